import { createAtom } from '@xstate/store';
import { KEYS, onKey, readKey, writeKey } from '../data/storage.ts';

/** State of the guide that this browser stores. All other steps depend on the service only. */

/** `shown`: the user began the guide or asked for it. Undefined: the state of the service decides. */
export type GuideChoice = 'shown' | 'dismissed' | undefined;

const asChoice = (stored: string | null): GuideChoice =>
  stored === 'shown' || stored === 'dismissed' ? stored : undefined;

export const guideChoice = createAtom<GuideChoice>(asChoice(readKey(KEYS.guide)));

export const chooseGuide = (choice: 'shown' | 'dismissed'): void => {
  writeKey(KEYS.guide, choice);
  guideChoice.set(choice);
};

const asWatched = (stored: string | null): boolean => stored === '1';

/** Whether the user has watched a run in its chart. */
export const hasWatched = createAtom(asWatched(readKey(KEYS.watched)));

export const noteWatched = (): void => {
  writeKey(KEYS.watched, '1');
  hasWatched.set(true);
};

onKey(KEYS.guide, (value) => guideChoice.set(asChoice(value)));
onKey(KEYS.watched, (value) => hasWatched.set(asWatched(value)));
