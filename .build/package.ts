import { buildConsole } from './console.ts';
import { writeDeclarations } from './declarations.ts';
import { writeLicenses } from './licenses.ts';
import { buildManual } from './manual.ts';

/** Builds the other parts of the package: the manual, the console, type declarations, and licenses. */
await buildManual();
await buildConsole();
await writeDeclarations();
await writeLicenses();
