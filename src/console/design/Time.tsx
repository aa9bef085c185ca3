import { createAtom } from '@xstate/store';
import { useAtom } from '../data/use-atom.ts';
import { instantOf } from '../i18n/format.ts';
import { useFormat } from '../i18n/locale.ts';

/** How often displayed ages are updated. */
const TICK_MS = 10_000;

const now = createAtom(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.set(Date.now());
}, TICK_MS);

/** The current time, updated every 10 seconds while the page is visible. */
export const useNow = (): number => useAtom(now);

/** The age of a time, with the full date in its tooltip. Accepts the time formats of the service. */
export const Ago = ({ at }: { at: unknown }) => {
  const format = useFormat();
  const current = useNow();
  const instant = instantOf(at);
  if (instant === undefined) return <span>—</span>;
  return (
    <time dateTime={new Date(instant).toISOString()} title={format.date(instant)}>
      {format.age(instant, Math.max(current, instant))}
    </time>
  );
};

export const DateTime = ({ at }: { at: unknown }) => {
  const format = useFormat();
  const instant = instantOf(at);
  if (instant === undefined) return <span>—</span>;
  return <time dateTime={new Date(instant).toISOString()}>{format.date(instant)}</time>;
};
