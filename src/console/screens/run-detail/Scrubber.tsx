import { Button, IconButton } from '../../design/Button.tsx';
import type { LogEvent } from '../../event-log/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

/** Selects the moment that the whole screen shows. */
export const Scrubber = ({
  events,
  at,
  onGo,
}: {
  events: readonly LogEvent[];
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const count = events.length;
  const place = Math.min(at ?? count, count);
  const event = events[place - 1];
  const go = (to: number): void => onGo(to >= count ? undefined : Math.max(1, to));
  return (
    <div className={css.scrubber}>
      <IconButton
        small
        icon="chevronLeft"
        label={t('chart.back')}
        disabled={place <= 1}
        onClick={() => go(place - 1)}
      />
      <input
        type="range"
        data-testid="time-travel-slider"
        aria-label={t('chart.slider')}
        aria-valuetext={t('chart.at', { at: place, count })}
        min={1}
        max={Math.max(1, count)}
        value={Math.max(1, place)}
        disabled={count === 0}
        onChange={(change) => go(Number(change.target.value))}
      />
      <IconButton
        small
        icon="chevronRight"
        label={t('chart.forth')}
        disabled={place >= count}
        onClick={() => go(place + 1)}
      />
      <span className={css.moment}>
        {event && <time>{format.clock(event.created_at)}</time>}
        <code>{event?.event_kind}</code>
      </span>
      {at !== undefined && (
        <Button small onClick={() => onGo(undefined)}>
          {t('chart.now')}
        </Button>
      )}
    </div>
  );
};
