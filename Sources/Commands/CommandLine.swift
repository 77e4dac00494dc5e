internal import Glibc

package func runCommandLine(_ arguments: [String]) -> Int32 { 0 }
