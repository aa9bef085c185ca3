import type { Unrouted } from '../http/unrouted.ts';
import { createConsole } from '../routes/console.ts';
import { createManual } from '../routes/manual.ts';
import type { Process } from './process.ts';
import { consoleFolder, manualFolder } from './version.ts';

/** The pages that a process serves on paths without a route: those of the manual, and the console. */
export const createPages = ({
  input,
  settings,
}: Pick<Process, 'input' | 'settings'>): readonly Unrouted[] => [
  createManual(input.manualFolder ?? manualFolder),
  ...(settings.console.enabled
    ? [createConsole({ folder: input.consoleFolder ?? consoleFolder, settings: settings.console })]
    : []),
];
