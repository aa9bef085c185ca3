import { Button } from '../design/Button.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { Stepper } from '../design/Stepper.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import type { Actor } from './actors.ts';
import css from './PathPanel.module.css';
import texts from './texts.json' with { type: 'json' };

const intoView = (item: HTMLElement | null): void => item?.scrollIntoView({ block: 'nearest' });

/** The steps of an actor, with navigation to any earlier moment. */
export const PathPanel = (props: {
  actor: Pick<Actor, 'steps' | 'isCut'>;
  /** Number of steps taken at the displayed moment; undefined for now. */
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const { actor, at, onGo } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const { steps, isCut } = actor;
  const count = steps.length;
  const place = Math.min(at ?? count, count);
  const go = (to: number): void => onGo(to >= count ? undefined : to);
  return (
    <section className="column" aria-label={t('path.title')}>
      <div className="row fixed inset">
        <Stepper
          label={t('path.slider')}
          back={t('path.back')}
          forth={t('path.forth')}
          text={t('path.step', { step: place, count })}
          at={place}
          first={0}
          last={count}
          onGo={go}
        >
          <Button
            small
            aria-pressed={at === undefined}
            disabled={at === undefined}
            onClick={() => onGo(undefined)}
          >
            {t('path.now')}
          </Button>
        </Stepper>
      </div>
      {isCut && <p className="quiet inset">{t('path.cut')}</p>}
      {count === 0 && !isCut && <p className="quiet inset">{t('path.none')}</p>}
      {count > 0 && (
        <Scroller label={t('path.title')} className="scrolls ruled">
          <ol>
            {steps.map((step, index) => (
              <li key={step.serial} ref={index + 1 === place ? intoView : undefined}>
                <button
                  type="button"
                  className={`item ${css.step}`}
                  aria-current={index + 1 === place ? 'step' : undefined}
                  onClick={() => go(index + 1)}
                >
                  <time className="quiet mono">{format.clock(step.time)}</time>
                  <span className="mono grow">{step.event}</span>
                  <span className="mono soft grow">{step.from === step.to ? '↻' : `→ ${step.to}`}</span>
                </button>
              </li>
            ))}
          </ol>
        </Scroller>
      )}
    </section>
  );
};
