import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

/** Highlighting of code; a separate chunk, which the first code block loads. */

const lowlight = createLowlight({
  bash,
  css,
  diff,
  go,
  java,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});

lowlight.registerAlias({
  typescript: ['js', 'jsx', 'javascript', 'mjs', 'tsx'],
  bash: ['shell', 'console'],
  json: ['jsonc', 'ndjson'],
});

/** Pieces of a text: plain text, or nested pieces with a class such as `hljs-string`. */
export type Piece = string | { look: string; pieces: Piece[] };

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

const pieceOf = (node: Node): Piece[] => {
  if (node.type === 'text') return [node.value];
  if (node.type !== 'element') return [];
  const { className } = node.properties;
  const look = Array.isArray(className) ? className.join(' ') : '';
  return [{ look, pieces: node.children.flatMap(pieceOf) }];
};

export const highlight = (language: string, text: string): Piece[] | undefined =>
  lowlight.registered(language) ? lowlight.highlight(language, text).children.flatMap(pieceOf) : undefined;
