# Runs all tests of the checkout and counts them. Sourced by ready.sh.

# Arguments go to Maven: `./graft test -Dgroups=lab -DexcludedGroups=` runs the tests that need the lab.
run_tests() {
  local code=0
  find "$root" -path '*/target/surefire-reports' -prune -exec rm -rf {} +
  rm -f "$root"/remoting-bridge/client/target/test/*.out
  # The tests of every module run even if those of another module failed; the count below decides. Two modules that do not
  # need each other are tested at once: the server's tests wait for half of their time.
  run_to_end mvn -B -ntp -T 2 -f "$root/pom.xml" verify -DexcludedGroups=lab -Dmaven.test.failure.ignore=true "$@" || code=$?
  slowest_tests
  failed_tests
  count_tests || code=1
  return "$code"
}

# Prints the ten classes of Java tests that took longest.
slowest_tests() {
  echo 'The slowest classes, in seconds:'
  find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec grep -h -m1 '<testsuite ' {} + |
    sed -n 's/.* name="\([^"]*\)" time="\([0-9,]*\)[0-9.]*".*/\2 \1/p' | tr -d , | sort -rn | head -n 10
}

# Prints each test that failed with the first line of what it said: a log of thousands of tests is often cut in the middle.
failed_tests() {
  find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec awk '
    function attribute(name) { return match($0, " " name "=\"[^\"]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
    /<testcase / { test = attribute("classname") "." attribute("name") }
    /^ *<(failure|error) (message|type)=/ { message = attribute("message"); print "failed: " test (message == "" ? "" : ": " message) }' {} + |
    sed -e 's/&quot;/"/g; s/&apos;/'\''/g; s/&lt;/</g; s/&gt;/>/g; s/&#10;.*//; s/&amp;/\&/g'
  # Of the tests in C, the groups with failures.
  find "$root/remoting-bridge/client" -path '*/target/test/*.out' -exec grep -hE '^client-[a-z]*: .* [1-9][0-9]* failed' {} + | sed 's/^/failed: /'
}

# Sums the reports of the Java tests and the last lines of the client's tests, prints "N passed, N failed, N skipped" and
# fails if a test failed or none ran.
count_tests() {
  {
    find "$root" -path '*/target/surefire-reports/TEST-*.xml' -exec grep -h -m1 '<testsuite ' {} +
    # Without the client's tests (-Dclient.skipTests) there is no such folder.
    find "$root/remoting-bridge/client" -path '*/target/test/*.out' -exec cat {} +
  } | awk '
    function number(name) { return match($0, " " name "=\"[0-9]+") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : 0 }
    /^client-[a-z]*: / { tests += $2 + $4; bad += $4; next }
    /^<testsuite / { tests += number("tests"); bad += number("errors") + number("failures"); skipped += number("skipped") }
    END {
      printf "%d passed, %d failed, %d skipped\n", tests - bad - skipped, bad, skipped
      exit bad > 0 || tests == 0
    }'
}
