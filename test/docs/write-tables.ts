import { GENERATED } from './generated.ts';
import { replaceTable } from './replace-table.ts';

/** Writes the generated tables of the documents. */
for (const { name, page, table } of GENERATED) replaceTable(name, table(), page);
