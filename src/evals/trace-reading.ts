import { setImmediate } from 'node:timers/promises';
import { MOST } from '../schema/dataset.ts';
import { Integrity, Invalid } from '../schema/outcome.ts';
import type { TracePage } from '../store/index.ts';
import { type Excerpt, follow, newExcerpt } from './curate.ts';

/**
 * Reads a trace page by page, and yields to the event loop between pages.
 *
 * Traces of other programs may have any size: a trace of more than `MOST_EVENTS` events or `MOST_TEXT` characters is
 * not curated.
 */

export const MOST_EVENTS = MOST.events;
export const MOST_TEXT = 32 * 2 ** 20;

/** Small, because an event may contain a complete prompt. */
const AT_ONCE = 16;

type Pages = { page(run_id: string, offset: number, limit: number): TracePage };

/** The trace exists but cannot become a test case. */
export class Uncuratable extends Invalid {}

/** @throws Invalid, NotFound, Integrity, Uncuratable */
export const readExcerpt = async (traces: Pages, run_id: string): Promise<Excerpt> => {
  const excerpt = newExcerpt();
  let read = 0;
  for (let offset = 0; ; await setImmediate()) {
    const { lines, total } = traces.page(run_id, offset, AT_ONCE);
    if (total > MOST_EVENTS)
      throw new Uncuratable(`the trace has ${total} events; at most ${MOST_EVENTS} are read`);
    for (const line of lines) {
      read += line.length;
      if (read > MOST_TEXT)
        throw new Uncuratable(`the trace is larger than ${MOST_TEXT} characters, the most that are read`);
      follow(excerpt, eventIn(line, run_id));
    }
    offset += lines.length;
    if (lines.length === 0 || offset >= total) return excerpt;
  }
};

const eventIn = (line: string, run_id: string): unknown => {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new Integrity(`an event of the trace of run ${run_id} cannot be read`, { cause });
  }
};
