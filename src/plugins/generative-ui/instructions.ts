import type { GenerativeUi } from './section.ts';

/** Instructions about A2UI that are sent to the model in each step (agent-loop.md 14.5). */

const DEFAULT_CATALOG = 'https://a2ui.org/specification/v0_8/standard_catalog_definition.json';

const BUILT_IN = `Answer with a user interface when it serves the user better than text: call the tool render_a2ui.
Its arguments are exactly one A2UI message, or "messages", an array of them in the order to apply:
- surfaceUpdate {surfaceId, components}: components is a flat list of {id, component: {<Type>: {...}}} with exactly one type each; parents name their children by id.
- dataModelUpdate {surfaceId, path, contents}: contents is a list of {key, valueString | valueNumber | valueBoolean | valueMap}.
- beginRendering {surfaceId, root}: shows the surface from the component with the id root; send it last.
- deleteSurface {surfaceId}: removes the surface.
Values of component properties are objects: {"literalString": "..."} for a fixed text, {"path": "/..."} for a place in the data model.
Button needs action {name, context?: [{key, value}]}. MultipleChoice needs options and selections, and takes no choices, label or value.
If the tool reports errors, correct them and call it again.`;

export const writeInstructions = ({ catalog_id, examples, instructions }: GenerativeUi): string =>
  [
    given(instructions) ?? BUILT_IN,
    `Components come from the catalog ${given(catalog_id) ?? DEFAULT_CATALOG}.`,
    ...(given(examples) === undefined ? [] : [`Examples:\n${examples}`]),
  ].join('\n\n');

const given = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined);
