import { Button } from '../../design/Button.tsx';
import { Stepper } from '../../design/Stepper.tsx';
import type { LogEvent } from '../../event-log/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

/** Selects the moment that the whole screen shows. */
export const Scrubber = (props: {
  events: readonly LogEvent[];
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const { events, at, onGo } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const count = events.length;
  const place = Math.min(at ?? count, count);
  const event = events[place - 1];
  return (
    <div className="row" style={{ flex: '1 1 520px' }}>
      <Stepper
        label={t('chart.slider')}
        back={t('chart.back')}
        forth={t('chart.forth')}
        text={t('chart.at', { at: place, count })}
        at={place}
        first={1}
        last={count}
        onGo={(to) => onGo(to >= count ? undefined : to)}
      >
        <span className="small number row">
          {event && <time>{format.clock(event.created_at)}</time>}
          <code>{event?.event_kind}</code>
        </span>
        {at !== undefined && (
          <Button small onClick={() => onGo(undefined)}>
            {t('chart.now')}
          </Button>
        )}
      </Stepper>
    </div>
  );
};
