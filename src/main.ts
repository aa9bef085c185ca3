#!/usr/bin/env -S node --max-semi-space-size=64 --min-semi-space-size=32
import module from 'node:module';

/** Time after which the compile cache is written, so that also a service that is killed leaves one. */
const FLUSH_MS = 5_000;

/** A part of the module of Node that its types for Node 20 lack. */
type CompileCache = { enableCompileCache(): unknown; flushCompileCache(): void };

const hasCompileCache = (node: object): node is CompileCache => 'flushCompileCache' in node;

/** The compile cache (Node 22.10 and newer) keeps the compiled form of all modules imported below across starts. */
if (hasCompileCache(module)) {
  const cache: CompileCache = module;
  cache.enableCompileCache();
  // Node itself writes the cache at a regular exit only.
  setTimeout(() => cache.flushCompileCache(), FLUSH_MS).unref();
}
// A closed output pipe, as with `head`, must not end the service.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
const { runProgram } = await import('./commands/program.ts');
await runProgram();
