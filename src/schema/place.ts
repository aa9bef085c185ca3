/** A row of a table: its partition and its id there. */
export type Place = { readonly scope: string; readonly id: string };

/** The names of lists, of which the first may be that of a partition. */
export type Lists = string | readonly string[];
