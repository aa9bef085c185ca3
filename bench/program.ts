import { join } from 'node:path';
import type { Build } from './build.ts';
import { type Child, startChild } from './child.ts';
import { beside, type Place } from './pin.ts';

/** One of `programs/`, bundled for a build. */
export const programFile = ({ programs }: Build, name: string): string => join(programs, `${name}.js`);

/** A server, or a part of the service, under measurement: as the service itself is started. */
export const startMeasured = (build: Build, name: string, args: readonly string[], place?: Place): Child =>
  startChild([...build.flags, programFile(build, name), ...args], place);

/** What asks a server, in a process of its own. */
export const startClient = (build: Build, name: string, args: readonly string[]): Child =>
  startChild([programFile(build, name), ...args], beside);
