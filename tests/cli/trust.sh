# Plugins in places where other users can write: none of their code may run. As root only, since it
# takes a second user.

# Who attacks: a user without anything of his own.
other=65534

needs_root()
{
    [ "$(id -u)" = 0 ] || skip "only root can be two users"
    setpriv --reuid=$other --regid=$other --clear-groups true 2>/dev/null ||
        skip "setpriv cannot change the user"
    chmod 755 "$work" "$work/run"
    export TRESPASSER=$PWD/traces
    mkdir -m 1777 traces
}

# as_other COMMAND...
as_other() { setpriv --reuid=$other --regid=$other --clear-groups "$@"; }

# theirs FOLDER: a folder of the other user with a plugin of his that leaves a trace.
theirs()
{
    mkdir "$1"
    cp "$BAD_PLUGINS/trespasser.so" "$1/hard_disk.so"
    chown -R $other:$other "$1"
}

# attack A B: he exchanges these two until the test has ended.
attack()
{
    setpriv --reuid=$other --regid=$other --clear-groups "$EXCHANGE" "$@" &
    attacker=$!
    trap 'kill $attacker; wait $attacker 2>/dev/null; rm -rf "$work"' EXIT
}

# never_loaded PATH: tried often while names are exchanged behind its back.
never_loaded()
{
    for i in $(seq 40); do
        command="plugmc info $1"
        "$PLUGMC" info "$1" >"$out" 2>"$err"
        status=$?
        [ "$status" = 0 ] || [ "$status" = 4 ] || fail "expected exit code 0 or 4"
        [ -z "$(ls traces)" ] || fail "code of another user has run"
    done
    kill -0 $attacker || fail "the attack has ended early"
}

# That the trap works: the other user himself runs into it.
test_traces_are_left()
{
    needs_root
    theirs evil
    as_other "$PLUGMC" info evil/hard_disk.so >"$out" 2>"$err"
    [ -e traces/loaded-by-$other ] || fail "expected a trace"
}

# In a folder in which all can write, he cannot exchange what is not his, but links of his own.
test_links_that_are_exchanged()
{
    needs_root
    mkdir -m 1777 common
    theirs common/evil
    mkdir -m 755 common/mine
    cp "$PLUGINS/hard_disk.so" common/mine/
    must info common/mine/hard_disk.so
    as_other "$EXCHANGE" common/mine common/evil 2>/dev/null && fail "the sticky bit does not work"
    as_other ln -s mine common/one
    as_other ln -s evil common/two
    attack common/one common/two
    never_loaded common/one/hard_disk.so
}

# A folder that a project shares: the message names the consent, and it is enough.
test_folder_that_a_group_shares()
{
    needs_root
    getent group daemon >"$out" || skip "there is no group daemon"
    mkdir -m 755 project
    cp "$PLUGINS/hard_disk.so" project/
    chgrp daemon project
    chmod 2775 project
    plugmc info project/hard_disk.so
    expect_exit 4
    expect_message "plugin 'project/hard_disk.so': $PWD/project can be changed by others (mode \
2775): run chmod go-w '$PWD/project', or set PLUGMC_TRUST_GROUP=daemon if you trust every member of that \
group with your account"
    PLUGMC_TRUST_GROUP=daemon must info project/hard_disk.so
    PLUGMC_TRUST_GROUP=bin:daemon must info project/hard_disk.so
    PLUGMC_TRUST_GROUP=bin plugmc info project/hard_disk.so
    expect_exit 4
}

# A container shows owners whom it does not know as nobody. On a mount that is read-only they will do.
test_owners_without_a_name()
{
    needs_root
    mkdir -m 755 image
    cp "$PLUGINS/hard_disk.so" image/
    chown -R 4321:4321 image
    in_container() { unshare --user --map-root-user --mount bash -c "$1" >"$out" 2>"$err"; }
    in_container "mount --bind image image && mount -o remount,bind,ro image" ||
        skip "no user namespaces: $(cat "$err")"
    in_container "'$PLUGMC' info image/hard_disk.so"
    status=$?
    expect_exit 4
    in_container "mount --bind image image && mount -o remount,bind,ro image &&
                  '$PLUGMC' info image/hard_disk.so"
    status=$?
    expect_exit 0
}

# A kernel compiler is code as well.
test_nvrtc_that_others_may_change()
{
    disks
    mkdir -m 777 open
    chmod 777 open
    cp "$PLUGINS/hard_disk.so" open/libnvrtc.so
    PLUGMC_NVRTC=$PWD/open/libnvrtc.so plugmc check sim.ini --architecture 90
    expect_exit 7
    expect_message "cannot compile kernels: NVRTC cannot be opened: $PWD/open can be changed by others \
(mode 0777): run chmod go-w '$PWD/open'"
}
