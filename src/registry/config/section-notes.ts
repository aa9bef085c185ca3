import { unknownSections } from '../sections.ts';
import type { Snapshot } from './snapshot.ts';

/** Tells the log of sections that nothing reads (config.md 3.1), each once as long as it is there. */
export type SectionNotes = {
  live(snapshot: Snapshot): void;
  /** A draft is told of whenever it is tried. */
  draft(snapshot: Snapshot): void;
};

export const createSectionNotes = (log: { warn(data: object, text: string): void }): SectionNotes => {
  let told: ReadonlySet<string> = new Set();
  const tell = ({ records, plugins }: Snapshot): Set<string> => {
    const found = new Set<string>();
    for (const { resource, message } of unknownSections(records.agents, plugins)) {
      found.add(message);
      if (!told.has(message)) log.warn({ agent_id: resource.id, problem: message }, 'a section is not used');
    }
    return found;
  };
  return {
    live(snapshot) {
      told = tell(snapshot);
    },
    draft(snapshot) {
      tell(snapshot);
    },
  };
};
