import { isObject, ShapeError } from '../../data/guard.ts';
import { Item, Report } from '../../evals/report.ts';

/**
 * Reads a file of results: one JSON object a line, or a whole eval run. A line that cannot be read is told by its
 * number and its reason, and costs the others nothing.
 */

export type Reason = 'json' | 'object' | 'fixture' | 'passed' | 'shape';

export type Issue = { line: number; reason: Reason; why?: string };

export type Parsed = { items: Item[]; issues: Issue[] };

const itemFrom = (value: unknown): Item | Omit<Issue, 'line'> => {
  if (!isObject(value)) return { reason: 'object' };
  const report = isObject(value.report) ? value.report : value;
  if (typeof report.fixture_id !== 'string' || report.fixture_id === '') return { reason: 'fixture' };
  if (typeof report.passed !== 'boolean') return { reason: 'passed' };
  try {
    if (report === value) {
      return {
        fixture_id: report.fixture_id,
        cell: undefined,
        report: Report(report, 'report'),
        trace_run_id: undefined,
        sample_index: undefined,
      };
    }
    return Item({ fixture_id: report.fixture_id, ...value }, 'item');
  } catch (error) {
    if (error instanceof ShapeError) return { reason: 'shape', why: error.message };
    throw error;
  }
};

const isItem = (found: Item | Omit<Issue, 'line'>): found is Item => 'report' in found;

const parseJson = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
};

/** Of `{run:{items}}` or `{items}`; undefined where it is neither. */
const runItems = (value: unknown): unknown[] | undefined => {
  if (!isObject(value)) return undefined;
  const { run, items } = value;
  if (isObject(run) && Array.isArray(run.items)) return run.items;
  return Array.isArray(items) ? items : undefined;
};

const collect = (parsed: Parsed, line: number, value: unknown): void => {
  const found = itemFrom(value);
  if (isItem(found)) parsed.items.push(found);
  else parsed.issues.push({ line, ...found });
};

/** Results of one test case are told apart by their place, where nothing else does that. */
const numbered = (items: readonly Item[]): Item[] => {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const key = JSON.stringify([item.fixture_id, item.cell, item.sample_index]);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return before === 0 ? item : { ...item, sample_index: before };
  });
};

/** So many lines are read between two looks at who waits. */
const SLICE = 2000;

const LINE = /\r\n|\n|\r/;

/** In slices; `pause` lets others have their turn and is told how much of it is done. */
export const parseReport = async (
  text: string,
  pause: (share: number) => Promise<void> = async () => {},
): Promise<Parsed> => {
  const parsed: Parsed = { items: [], issues: [] };
  const whole = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  const items = whole && runItems(whole.value);
  const values = items ?? (whole && [whole.value]);
  if (values) {
    for (const [index, value] of values.entries()) {
      collect(parsed, index + 1, value);
      if (index % SLICE === SLICE - 1) await pause(index / values.length);
    }
    return { ...parsed, items: numbered(parsed.items) };
  }
  const lines = text.replace(/^\uFEFF/, '').split(LINE);
  for (const [index, line] of lines.entries()) {
    if (line.trim() !== '') {
      const read = parseJson(line);
      if (read) collect(parsed, index + 1, read.value);
      else parsed.issues.push({ line: index + 1, reason: 'json' });
    }
    if (index % SLICE === SLICE - 1) await pause(index / lines.length);
  }
  return { ...parsed, items: numbered(parsed.items) };
};
