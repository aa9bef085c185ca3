/** Options of the index that the build writes and the page reads. They must be equal. */

/** A heading of a page with the text below it. */
export type Passage = {
  id: string;
  page: string;
  title: string;
  heading: string;
  /** Empty for the first heading of a page. */
  anchor: string;
  excerpt: string;
  text: string;
};

/** Terms of this length or less must be written without an error. */
const SHORT = 5;

export const OPTIONS = {
  fields: ['heading', 'title', 'text'],
  storeFields: ['page', 'title', 'heading', 'anchor', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, title: 2 },
    combineWith: 'AND' as const,
    prefix: true,
    fuzzy: (term: string): number | false => (term.length > SHORT ? 0.15 : false),
  },
} satisfies { fields: (keyof Passage)[]; storeFields: (keyof Passage)[]; searchOptions: object };
