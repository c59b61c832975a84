/* The style of the page: light and dark, from 390 pixels on. Colours of figures are variables, which the SVG of
 * gnuplot is made to use (figures.c). */
#ifndef PLUGMC_REPORT_STYLE_H
#define PLUGMC_REPORT_STYLE_H

static const char report_style[] =
    ":root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--faint:#6a737d;--line:#d8dee4;--card:#f6f8fa;"
    "--warn:#fff3cd;--c0:#0b62c4;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;--c4:#a16207;--c5:#0e7490;--c6:#be185d;"
    "--c7:#4b5563}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--ink:#e6e8eb;--faint:#9aa4af;--line:#343a42;"
    "--card:#1d2127;--warn:#3d3410;--c0:#6cb0ff;--c1:#ff9a62;--c2:#5fd38a;--c3:#c99bff;--c4:#e2b93b;--c5:#4fd0e6;"
    "--c6:#ff86b8;--c7:#b3bcc7}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:1180px;margin:0 auto;padding:1rem}h1{font-size:1.6rem;margin:.5rem 0;overflow-wrap:anywhere}"
    "h2{font-size:1.2rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}\n"
    /* The edge of a table that is wider than the page is in shadow, on the side where it goes on. */
    ".wide{overflow-x:auto;background:linear-gradient(to right,var(--paper) 30%,transparent) 0 0,"
    "linear-gradient(to left,var(--paper) 30%,transparent) 100% 0,"
    "radial-gradient(farthest-side at 0 50%,var(--faint),transparent) 0 0,"
    "radial-gradient(farthest-side at 100% 50%,var(--faint),transparent) 100% 0;background-repeat:no-repeat;"
    "background-size:3rem 100%,3rem 100%,1rem 100%,1rem 100%;background-attachment:local,local,scroll,scroll}"
    "p.wider{display:none}p.wider.always{display:block;color:var(--faint)}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);white-space:nowrap}"
    "th{font-weight:600;color:var(--faint)}.number{text-align:right}.study th{white-space:normal;vertical-align:bottom}\n"
    ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,23rem),1fr));gap:1rem}"
    "figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.6rem;"
    "min-width:0}figcaption{font-size:.9rem;overflow-wrap:anywhere}figcaption small{color:var(--faint)}"
    "svg,img{width:100%;height:auto;display:block}.picture{max-width:46rem}\n"
    ".warnings{background:var(--warn);border-radius:8px;padding:.6rem 1rem .6rem 2rem}"
    "p.faint,li.faint{color:var(--faint)}pre{overflow-x:auto;background:var(--card);padding:.8rem;"
    "border-radius:8px;font-size:.85rem}summary{cursor:pointer}\n"
    ".key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}"
    ".k0{background:var(--c0)}.k1{background:var(--c1)}.k2{background:var(--c2)}.k3{background:var(--c3)}"
    ".k4{background:var(--c4)}.k5{background:var(--c5)}.k6{background:var(--c6)}.k7{background:var(--c7)}"
    ".f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}"
    ".f5{fill:var(--c5)}.f6{fill:var(--c6)}.f7{fill:var(--c7)}.box{fill:none;stroke:var(--ink)}\n"
    "@media(max-width:600px){p.wider{display:block;margin:0;font-size:.85rem;color:var(--faint)}"
    "table{font-size:.85rem}th,td{padding-right:.5rem}th{white-space:normal}"
    "td:first-child{white-space:normal;overflow-wrap:anywhere;min-width:9rem}.study td:first-child{min-width:0}}\n"
    "@media print{figure{break-inside:avoid}}\n";

#endif
