#compdef fibertest
# SPDX-License-Identifier: MIT

_arguments -S \
	'--replay=[run the one schedule of a token in this process]:token: ' \
	'--schedules=[run at most so many schedules]:number: ' \
	'--seed=[the same seed gives the same schedules]:number: ' \
	'--strategy=[how schedules are chosen]:strategies:_sequence compadd - random pct pos urw surw bound exhaustive each-fault portfolio' \
	'--steps=[choices in one schedule]:number: ' \
	'--preemptions=[switches away from a fiber that could go on]:number: ' \
	'--faults=[what fails]:faults:_sequence compadd - memory short reset descriptors cancel spurious disk spawn all none' \
	'--fault-limit=[faults in one schedule]:number: ' \
	'--slack=[how far the clock may run ahead]:time:(none)' \
	'--time=[real time for each test]:time:(none)' \
	'--hang=[real time without a choice]:time:(none)' \
	'(-j --jobs)'{-j+,--jobs=}'[processes]:number: ' \
	'--trace=-[print every step of a replay]::file:_files' \
	'--at-failure=[what a replay does when it fails]:action:(report abort stop)' \
	'--timeline=[write a replay as a recording]:file:_files' \
	'--no-minimize[keep the schedule as it was found]' \
	'--keep-going[go on after a finding]' \
	'--format=[of the report]:format:(text tap junit json)' \
	'-o+[write there]:file:_files' \
	'--progress=[a line on a terminal]:when:(auto always never)' \
	'--help[print the options]' \
	'--version[print the version]' \
	'(-)1:program: _alternative "commands:command:_path_commands" "files:file:_files"' \
	'*::arguments: _normal'
