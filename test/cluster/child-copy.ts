import { runProgram } from '../../src/commands/program.ts';

/** The command line in a separate process, which a test can kill. */

await runProgram();
