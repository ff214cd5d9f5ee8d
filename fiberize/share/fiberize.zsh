#compdef fiberize
# SPDX-License-Identifier: MIT

_arguments -S \
	'--carriers=[how many threads run the fibers]:number:(1 2 4 8)' \
	'--carriers-max=[how many at most, with substitutes]:number:(1 2 4 8)' \
	'--stack=[the stack of a fiber]:size:(256k 1m 8m)' \
	'--trim=[when a waiting thread loses unused stack]:time:(1s 5s 1m off)' \
	'--watchdog=[report fibers that run for longer]:time:(20ms 100ms 1s)' \
	'(- *)'{-h,--help}'[print the options]' \
	'(- *)'{-V,--version}'[print the version]' \
	'(-)1:program: _alternative "commands:command:_path_commands" "files:file:_files"' \
	'*::arguments: _normal'
