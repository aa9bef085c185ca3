import type { Document } from 'yaml';
import { isTree, type Tree } from './tree.ts';

/**
 * Parses the text of a settings file. JSON is parsed as YAML, of which it is a subset. Messages of the parser quote the
 * file, which may contain secrets, so only its error code and the line are reported. Warnings count as errors, because
 * an unknown tag (`!x`) would otherwise leave a value empty without notice. The parser is loaded with the first file.
 */
export const parseSettingsFile = async (path: string, content: string, problems: string[]): Promise<Tree> => {
  const { LineCounter, parseDocument } = await import('../schema/yaml.ts');
  const lines = new LineCounter();
  const document = parseDocument(content, { prettyErrors: false, lineCounter: lines });
  const faults = [...document.errors, ...document.warnings];
  problems.push(
    ...faults.map(({ code, pos }) => illegal(path, `${code} in line ${lines.linePos(pos[0]).line}`)),
  );
  const value = faults.length > 0 ? null : plainValue(path, document, problems);
  if (isTree(value)) return value;
  if (value !== null) problems.push(`${path}: not an object; allowed: one with the names of settings`);
  return {};
};

const illegal = (path: string, fault: string): string => `${path}: not legal JSON or YAML: ${fault}`;

const plainValue = (path: string, document: Document, problems: string[]): unknown => {
  try {
    return document.toJS();
  } catch {
    problems.push(illegal(path, 'an alias (*name) that cannot be resolved'));
    return null;
  }
};
