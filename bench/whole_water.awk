# whole_water.awk -v L=EDGE FRAME.xyz: water in a cube as `plugmc export` writes it, all O before all H, molecule by molecule and each whole.
NR <= 2 { next }
{ x[NR - 2] = $2; y[NR - 2] = $3; z[NR - 2] = $4; if ($1 == "O") oxygens++; n++ }
function near(a, b) { return a + L * (b - a > L / 2 ? 1 : b - a < -L / 2 ? -1 : 0) }
END {
    printf "%d\nLattice=\"%s 0 0 0 %s 0 0 0 %s\" Properties=species:S:1:pos:R:3\n", n, L, L, L
    for (k = 1; k <= oxygens; k++) {
        printf "O %.12f %.12f %.12f\n", x[k], y[k], z[k]
        for (h = oxygens + 2 * k - 1; h <= oxygens + 2 * k; h++)
            printf "H %.12f %.12f %.12f\n", near(x[h], x[k]), near(y[h], y[k]), near(z[h], z[k])
    }
}
