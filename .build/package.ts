import { writeDeclarations } from './declarations.ts';
import { writeLicenses } from './licenses.ts';

/** What the package has besides its programs: what compilers read, and whose work is in it. */
await writeDeclarations();
writeLicenses();
