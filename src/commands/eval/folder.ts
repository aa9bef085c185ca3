import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fixture } from '../../schema/dataset.ts';
import { inexactInteger, inexactTextIn } from '../../schema/exact-integers.ts';
import { describeIssues, phrases } from '../../schema/phrases.ts';
import { Usage } from '../usage.ts';

/**
 * Reads the fixtures of a folder, one JSON object per file, sorted by id (evals-and-traces.md 8.2). Files whose names
 * start with a dot or do not end in `.json` are ignored.
 *
 * @throws Usage with all problems found
 */
export const readFixtures = (folder: string): Fixture[] => {
  const problems: string[] = [];
  const files = new Map<string, string>();
  const fixtures = filesIn(folder).flatMap((name) => {
    const read = readFixture(join(folder, name));
    const problem = typeof read === 'string' ? read : problemOf(read, files.get(read.id));
    if (problem !== undefined) problems.push(`${name}: ${problem}`);
    if (typeof read === 'string') return [];
    files.set(read.id, name);
    return [read];
  });
  if (problems.length > 0) throw new Usage(problems.join('\n'));
  if (fixtures.length === 0) throw new Usage(`${folder} contains no fixture (*.json)`);
  return fixtures.sort((one, other) => Buffer.compare(Buffer.from(one.id), Buffer.from(other.id)));
};

const filesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      .sort();
  } catch {
    throw new Usage(`directory ${folder} cannot be read`);
  }
};

/** Returns the fixture, or the reason why it cannot be read. */
const readFixture = (file: string): Fixture | string => {
  let given: unknown;
  try {
    const text = readFileSync(file, 'utf8');
    given = JSON.parse(text);
    const inexact = inexactInteger(text);
    if (inexact !== undefined) return inexactTextIn(given, inexact);
  } catch (error) {
    return error instanceof SyntaxError ? 'not JSON' : 'cannot be read';
  }
  const parsed = Fixture.safeParse(given, phrases);
  return parsed.success ? parsed.data : describeIssues(parsed.error);
};

const problemOf = ({ id, expect }: Fixture, taken: string | undefined): string | undefined => {
  if (taken !== undefined) return `duplicate fixture id: ${id}, also in ${taken}`;
  return expect.min_judge_score === undefined
    ? undefined
    : 'min_judge_score requires a judge, but none is configured';
};
