#!/usr/bin/env -S node --max-semi-space-size=64 --min-semi-space-size=16
import module from 'node:module';

/** What is loaded from here on is compiled once for all starts, where Node can keep it (22.8 and newer). */
if ('enableCompileCache' in module && typeof module.enableCompileCache === 'function') {
  module.enableCompileCache();
}
// A reader of the output that is gone, such as `head`, does not end a service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
const { runProgram } = await import('./commands/program.ts');
await runProgram();
