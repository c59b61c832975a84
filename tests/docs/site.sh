#!/bin/bash
# site.sh SOURCE: the documentation as a site, without a warning; it fetches nothing from elsewhere, and
# every page of docs/ is in its index.
set -eu -o pipefail
command -v mkdocs >/dev/null || { echo "skipped: mkdocs is not installed"; exit 77; }
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
cd "$1"
mkdocs build --quiet --strict --site-dir "$site"
! grep -rlE '<(script|img|link|iframe)[^>]*(src|href)="(https?:)?//' --include='*.html' "$site" ||
    { echo "these pages fetch something from elsewhere"; exit 1; }
for page in docs/*.md docs/how-to/*.md docs/plugins/*.md; do
    grep -qF " ${page#docs/}" mkdocs.yml || { echo "$page is not in mkdocs.yml"; exit 1; }
done
grep -q hard_pressure "$site/search/search_index.json" || { echo "the search knows nothing"; exit 1; }
