import { z } from 'zod';
import type { Section } from '../plugin.ts';

/** Blank texts count as unset, because editors may store them. */
const text = (title: string, description: string) => z.string().optional().meta({ title, description });

const GenerativeUi = z.strictObject({
  catalog_id: text('Catalog', 'URL of the A2UI component catalog that clients render'),
  examples: text('Examples', 'A2UI messages that show the model what is wanted'),
  instructions: text('Instructions', 'replaces the built-in instructions'),
});
export type GenerativeUi = z.infer<typeof GenerativeUi>;

export const generativeUiSection: Section<GenerativeUi> = {
  key: 'generative-ui',
  schema: GenerativeUi,
  display_name: 'Generative UI',
  description: 'Lets the model render user interfaces with A2UI messages.',
  category: 'presentation',
  editor: 'generative-ui',
  default_value: {},
};
