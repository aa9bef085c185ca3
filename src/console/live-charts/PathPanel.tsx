import { Button, IconButton } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import type { Actor } from './actors.ts';
import css from './PathPanel.module.css';
import { texts } from './texts.ts';

const intoView = (item: HTMLElement | null): void => item?.scrollIntoView({ block: 'nearest' });

/** The steps of an actor, with navigation to any earlier moment. */
export const PathPanel = ({
  actor,
  at,
  onGo,
}: {
  actor: Pick<Actor, 'steps' | 'isCut'>;
  /** Number of steps taken at the displayed moment; undefined for now. */
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { steps, isCut } = actor;
  const count = steps.length;
  const place = Math.min(at ?? count, count);
  const go = (to: number): void => onGo(to >= count ? undefined : Math.max(0, to));
  return (
    <section className={css.panel} aria-label={t('path.title')}>
      <div className={css.bar}>
        <IconButton
          small
          icon="chevronLeft"
          label={t('path.back')}
          disabled={place === 0}
          onClick={() => go(place - 1)}
        />
        <input
          type="range"
          data-testid="time-travel-slider"
          aria-label={t('path.slider')}
          aria-valuetext={t('path.step', { step: place, count })}
          min={0}
          max={count}
          value={place}
          disabled={count === 0}
          onChange={(event) => go(Number(event.target.value))}
        />
        <IconButton
          small
          icon="chevronRight"
          label={t('path.forth')}
          disabled={place === count}
          onClick={() => go(place + 1)}
        />
        <Button
          small
          aria-pressed={at === undefined}
          disabled={at === undefined}
          onClick={() => onGo(undefined)}
        >
          {t('path.now')}
        </Button>
      </div>
      {isCut && <p className={css.note}>{t('path.cut')}</p>}
      {count === 0 && !isCut && <p className={css.note}>{t('path.none')}</p>}
      {count > 0 && (
        <Scroller label={t('path.title')} className={css.steps}>
          <ol>
            {steps.map((step, index) => (
              <li key={step.serial} ref={index + 1 === place ? intoView : undefined}>
                <button
                  type="button"
                  className={css.step}
                  aria-current={index + 1 === place ? 'step' : undefined}
                  onClick={() => go(index + 1)}
                >
                  <time className={css.time}>{format.clock(step.time)}</time>
                  <span className={css.event}>{step.event}</span>
                  <span className={css.to}>{step.from === step.to ? '↻' : `→ ${step.to}`}</span>
                </button>
              </li>
            ))}
          </ol>
        </Scroller>
      )}
    </section>
  );
};
