# Plugins that are damaged or dangerous. Those that are missing or do not fit are in tests/refusals.

# with_plugin PATH: the potential of sim.ini comes from there.
with_plugin() { change "s|^\[potential hard_disk\]|&\nplugin = $1|"; }

test_plugin_that_is_no_library()
{
    disks
    echo "no library" >text.so
    with_plugin ./text.so
    refused 4 "sim.ini:17: plugin './text.so': ./text.so is no shared object, as plugins are" run sim.ini
    : >text.so
    refused 4 "sim.ini:17: plugin './text.so': ./text.so is empty" run sim.ini
    cp "$PLUGINS/hard_disk.so" text.so
    printf '\050' | dd of=text.so bs=1 seek=18 conv=notrunc status=none # the machine: ARM
    refused 4 "sim.ini:17: plugin './text.so': ./text.so is no shared object for this machine" run sim.ini
}

# dlopen alone dies of a bus error here.
test_plugin_that_is_cut_short()
{
    disks
    with_plugin ./short.so
    for bytes in 30 100 1000 6000 20000; do
        head -c $bytes "$PLUGINS/hard_disk.so" >short.so
        plugmc run sim.ini
        expect_exit 4
        expect_lines 1
        expect_untouched
    done
    expect_message "sim.ini:17: plugin './short.so': ./short.so is damaged, or was cut short"
}

# In a child process, which it cannot harm.
test_plugin_that_cannot_be_loaded()
{
    disks
    change 's/^\[observable.*/[observable unloadable]/'
    local plugin=$BAD_PLUGINS/unloadable.so what
    change "s|^\[observable unloadable\]|&\nplugin = $plugin|"
    local line="sim.ini:22: plugin '$plugin': $plugin: the loader"
    export LOADING
    for what in "leaves:ends the program on it (exit code 0)" "fails:ends the program on it (exit code 3)" \
        "aborts:crashes on it (Aborted)" "loops:takes far too long to read it"; do
        LOADING=${what%%:*}
        refused 4 "$line ${what#*:}: it is damaged, or its code is wrong" run sim.ini
    done
}

test_plugin_that_others_may_change()
{
    disks
    mkdir -m 755 mine
    cp "$PLUGINS/hard_disk.so" mine/
    chmod 757 mine/hard_disk.so
    with_plugin mine/hard_disk.so
    refused 4 "sim.ini:17: plugin 'mine/hard_disk.so': mine/hard_disk.so can be changed by others \
(mode 0757): run chmod go-w 'mine/hard_disk.so'" run sim.ini
    chmod 755 mine/hard_disk.so
    chmod 777 mine
    refused 4 "sim.ini:17: plugin 'mine/hard_disk.so': $PWD/mine can be changed by others (mode \
0777): run chmod go-w '$PWD/mine'" run sim.ini
    chmod 755 mine
    must run sim.ini
}

# Only what the INI names is loaded: a damaged plugin beside it harms nobody, but `list` tells.
test_damaged_plugins_elsewhere()
{
    disks
    mkdir -m 755 mine
    cp "$BAD_PLUGINS/other_abi.so" mine/broken.so
    export PLUGMC_PLUGIN_PATH=$PWD/mine
    must run sim.ini
    plugmc list
    expect_exit 4
    expect_output "  hard_disk "
    expect_message "plugin 'broken': $PWD/mine/broken.so was built for plugin ABI 9.9, but this plugmc has 2.1: rebuild it with the headers of this plugmc"
    expect_lines 1
}

# A view that a plugin asks for is as long as the plugin has said, and no longer than the program knows.
test_view_of_another_size()
{
    disks
    printf '\n[observable framed]\nplugin = %s/framed.so\nperiod = 5\n' "$TEST_PLUGINS" >>sim.ini
    for more in 0 40; do
        rm -f sim.h5
        must run sim.ini --set "observable framed.more=$more"
        grep -Eq '^framed.filled +0\*? ' "$out" || fail "with $more bytes more: another size than it knows"
        grep -Eq '^framed.spoilt +0\*? ' "$out" || fail "with $more bytes more: bytes are written behind the view"
        grep -Eq '^framed.particles +64\*? ' "$out" || fail "with $more bytes more: not all particles are in its cells"
    done
    plugmc run sim.ini --set "observable framed.unset=yes"
    expect_exit 9
    grep -Fq "[observable framed] a view of 0 bytes is asked for: a plugin says its size, 120 at least, before" "$err" ||
        fail "expected what the plugin has to do"
}

# A plugin of many sections is tried and hashed once: 3,000 took 45 seconds of a processor, and take half a second.
test_many_sections_of_one_plugin_are_quick()
{
    disks
    for k in $(seq 3000); do printf '[observable e%d]\nplugin = energy\n' "$k"; done >>sim.ini
    local ticks
    ticks=$(awk '{ print $16 + $17 }' /proc/$$/stat)
    must check sim.ini
    ticks=$(($(awk '{ print $16 + $17 }' /proc/$$/stat) - ticks))
    echo "$ticks ticks of $(getconf CLK_TCK) a second"
    [ "$ticks" -lt $((4 * $(getconf CLK_TCK))) ] || fail "more than 4 s of a processor"
}

# misconfigured HOW: disks with an observable whose configure does that.
misconfigured()
{
    export PLUGMC_PLUGIN_PATH=$TEST_PLUGINS:$PLUGINS
    disks
    change "s/^\[observable.*/[observable misconfigured]\nhow = $1/"
}

# In a child process as well: no lock and no file is left, and what is there stays as it is.
test_plugin_that_breaks_down_on_its_parameters()
{
    local what line="[observable misconfigured] its callback 'configure'"
    for what in "crashes:crashes (Segmentation fault)" "aborts:crashes (Aborted)" \
        "leaves:ends the program (exit code 0) instead of returning" \
        "leaves_at_once:ends the program (exit code 0) instead of returning"; do
        misconfigured "${what%%:*}"
        refused 9 "sim.ini:22: $line ${what#*:}: the code of plugin misconfigured is wrong" run sim.ini
    done
    misconfigured short
    ulimit -S -d 2000000
    refused 8 "sim.ini:22: [observable misconfigured] a table of 8 TB is too large: 1.91 GiB is what it may take here" run sim.ini
}

# For 3 of the 30 seconds that it has, and with 2 GB of memory.
test_plugin_that_never_comes_back_with_its_parameters()
{
    misconfigured loops
    ulimit -S -t 3
    plugmc run sim.ini
    expect_exit 9
    grep -Eqx "sim.ini:22: \[observable misconfigured\] its callback 'configure' has not returned after [23] s of \
processor time: the code of plugin misconfigured is wrong" "$err" || fail "it does not say how long"
    expect_lines 2 # and a word after two seconds
    expect_untouched
    ulimit -S -t unlimited
    ulimit -S -d 2000000
    misconfigured takes_memory
    refused 8 "sim.ini:22: [observable misconfigured] there is not enough memory for checking its parameters: \
1.91 GiB is what it may take here" run sim.ini
}

# Twice it is configured, once it is heard.
test_plugin_that_warns_of_its_parameters_once()
{
    misconfigured warns
    must run sim.ini --set run.output=other.h5
    [ "$(grep -c 'it has been configured' "$err")" = 1 ] || fail "expected one warning"
}
