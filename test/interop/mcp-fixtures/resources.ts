import { PNG } from './content.ts';

/** The resources that the conformance suite reads, as it describes them. */

export const RESOURCES = [
  { uri: 'test://static-text', name: 'static text', description: 'A text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static binary', description: 'An image', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched', description: 'Can change', mimeType: 'text/plain' },
];

export const TEMPLATES = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    description: 'Data by id',
    mimeType: 'application/json',
  },
];

const CONTENTS: Record<string, { text: string } | { blob: string }> = {
  'test://static-text': { text: 'This is the content of the static text resource.' },
  'test://static-binary': { blob: PNG },
  'test://watched-resource': { text: 'Nothing happened.' },
};

/** Undefined: unknown resource. */
export const contentsOf = (uri: string) => {
  const known = CONTENTS[uri];
  if (known) return [{ uri, mimeType: RESOURCES.find((one) => one.uri === uri)?.mimeType, ...known }];
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return [{ uri, mimeType: 'application/json', text }];
};
