import { isObject, ShapeError } from '../../data/guard.ts';
import { parseJson } from '../../data/json-text.ts';
import { Item, Report } from '../../eval-results/report.ts';

/**
 * Reads a report file: one JSON object per line, or a whole eval run. A line that cannot be read is reported with its
 * number and reason; all others are kept.
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

/** The items of `{run:{items}}` or `{items}`; undefined for anything else. */
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

/** Numbers results of one test case that have no other distinction. */
const numbered = (items: readonly Item[]): Item[] => {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const key = JSON.stringify([item.fixture_id, item.cell, item.sample_index]);
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    return before === 0 ? item : { ...item, sample_index: before };
  });
};

/** Number of values parsed between two pauses. */
const SLICE = 2000;

const LINE = /\r\n|\n|\r/;

/** The values of a file that is one JSON object; undefined for a file with one object per line. */
const valuesOf = (text: string): readonly unknown[] | undefined => {
  const whole = text.trimStart().startsWith('{') ? parseJson(text) : {};
  return 'value' in whole ? (runItems(whole.value) ?? [whole.value]) : undefined;
};

const collectLine = (parsed: Parsed, number: number, line: string): void => {
  if (line.trim() === '') return;
  const read = parseJson(line);
  if ('value' in read) collect(parsed, number, read.value);
  else parsed.issues.push({ line: number, reason: 'json' });
};

/** Parses in slices. `pause` yields to the event loop and receives the share that is done. */
export const parseReport = async (
  text: string,
  pause: (share: number) => Promise<void> = async () => {},
): Promise<Parsed> => {
  const parsed: Parsed = { items: [], issues: [] };
  const each = async <T>(parts: readonly T[], add: (parsed: Parsed, line: number, part: T) => void) => {
    for (const [index, part] of parts.entries()) {
      add(parsed, index + 1, part);
      if (index % SLICE === SLICE - 1) await pause(index / parts.length);
    }
  };
  const values = valuesOf(text);
  if (values) await each(values, collect);
  else await each(text.replace(/^\uFEFF/, '').split(LINE), collectLine);
  return { ...parsed, items: numbered(parsed.items) };
};
