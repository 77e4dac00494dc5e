internal import Commands
internal import Glibc

exit(runCommandLine(CommandLine.arguments))
