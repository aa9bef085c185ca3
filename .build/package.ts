import { buildConsole } from './console.ts';
import { writeDeclarations } from './declarations.ts';
import { writeLicenses } from './licenses.ts';

/** What the package has besides its programs: its console, what compilers read, and whose work is in it. */
await buildConsole();
await writeDeclarations();
await writeLicenses();
