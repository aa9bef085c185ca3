import { join } from 'node:path';
import type { Build } from './build.ts';
import { type Child, startChild } from './child.ts';
import { beside, type Place } from './pin.ts';

/** The path of a program of `programs/`, bundled for a build. */
export const programFile = ({ programs }: Build, name: string): string => join(programs, `${name}.js`);

/** Starts a measured server, or a part of the service, with the flags of the service. */
export const startMeasured = (build: Build, name: string, args: readonly string[], place?: Place): Child =>
  startChild([...build.flags, programFile(build, name), ...args], place);

/** Starts a client of a server in a separate process. */
export const startClient = (build: Build, name: string, args: readonly string[]): Child =>
  startChild([programFile(build, name), ...args], beside);
