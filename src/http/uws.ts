import type * as UwsModule from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { Unavailable } from '../schema/outcome.ts';

/**
 * uWebSockets.js comes as one binary for each system and version of Node, and some of them want a newer system than
 * Node itself. It is loaded here and nowhere else, when something listens, so that a system it does not run on is told
 * in a line.
 */
const problemOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const [, glibc] = /GLIBC_(\d+\.\d+)' not found/.exec(text) ?? [];
  const here = `Node ${process.version} on ${process.platform} ${process.arch}`;
  if (glibc !== undefined) {
    return `${here} needs glibc ${glibc} or newer, which this system does not have: take a newer system (Debian 13 and Ubuntu 24.04 have 2.38), or Node 20`;
  }
  if (/Cannot find module/.test(text)) {
    return `uWebSockets.js has no binary for ${here}; there are some for Node 20, 22, 24 and 25 on Linux with glibc, macOS and Windows. If binaries were pruned, install again with this Node`;
  }
  return `uWebSockets.js cannot be loaded by ${here}: ${text.trim().split('\n').at(-1)}`;
};

/** @throws Unavailable */
export const loadUws = (): typeof UwsModule => {
  try {
    return createRequire(import.meta.url)('uWebSockets.js');
  } catch (error) {
    throw new Unavailable(problemOf(error), { cause: error });
  }
};
