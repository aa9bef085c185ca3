#!/usr/bin/env -S node --max-semi-space-size=64 --min-semi-space-size=32
// A closed output pipe, as with `head`, must not end the service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
import('./commands/program.ts').then(({ runProgram }) => runProgram());
