import { lazy, type ReactNode, Suspense, useId, useState } from 'react';
import { useAtom } from '../data/use-atom.ts';
import { Button, buttonLook } from '../design/Button.tsx';
import { Icon } from '../design/Icon.tsx';
import { Card } from '../design/Layout.tsx';
import { SkeletonRows } from '../design/Notice.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { chooseGuide, guideChoice } from './choice.ts';
import css from './GettingStarted.module.css';
import { HelloStep } from './HelloStep.tsx';
import texts from './texts.json' with { type: 'json' };
import { useDemoAgent } from './use-demo-agent.ts';
import { type Done, STEPS, type Step, useSteps } from './use-steps.ts';

/** Links to the editor, with a copy of the demo agent or with an empty draft. */
const AgentStep = () => {
  const t = useTexts(texts);
  const demo = useDemoAgent();
  return (
    <div className="row">
      <ScreenLink to={`/agents/new?from=${encodeURIComponent(demo)}`} className={buttonLook}>
        {t('agent.copy', { agent: demo })}
      </ScreenLink>
      <ScreenLink to="/agents/new" className={buttonLook}>
        {t('agent.blank')}
      </ScreenLink>
    </div>
  );
};

const ModelStep = lazy(() => import('./ModelStep.tsx'));
const WatchStep = lazy(() => import('./WatchStep.tsx'));

const CONTENTS: Readonly<Record<Step, () => ReactNode>> = {
  hello: () => <HelloStep />,
  model: () => <ModelStep />,
  agent: () => <AgentStep />,
  watch: () => <WatchStep />,
};

const StepItem = (props: {
  step: Step;
  number: number;
  isDone: boolean;
  isOpen: boolean;
  onToggle: () => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const id = useId();
  const { step, isDone, isOpen } = props;
  return (
    <li className={css.step} data-step={step} data-done={isDone || undefined}>
      <h3>
        <button
          type="button"
          className={`item ${css.head}`}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={props.onToggle}
        >
          <span className={css.mark} aria-hidden="true">
            {isDone ? <Icon name="check" size={14} /> : format.number(props.number)}
          </span>
          <span className="grow">{t(`${step}.title`)}</span>
          <span className="quiet tone" style={{ fontWeight: 400 }} data-tone={isDone ? 'success' : undefined}>
            {t(isDone ? 'done' : 'open')}
          </span>
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={14} />
        </button>
      </h3>
      <div id={id} className={`stack ${css.content}`} hidden={!isOpen}>
        {isOpen && (
          <Suspense fallback={<SkeletonRows rows={2} />}>
            <p className="soft">{t(`${step}.text`)}</p>
            {CONTENTS[step]()}
          </Suspense>
        )}
      </div>
    </li>
  );
};

const Guide = ({ done, className }: { done: Done; className: string | undefined }) => {
  const t = useTexts(texts);
  const [open, setOpen] = useState<Step | undefined>(() => STEPS.find((step) => !done[step]));
  const count = STEPS.filter((step) => done[step]).length;
  return (
    <Card
      className={className}
      title={t('title')}
      note={t(count === STEPS.length ? 'complete' : 'progress', { done: count, all: STEPS.length })}
      flush
      actions={
        <Button small tone="quiet" icon="close" onClick={() => chooseGuide('dismissed')}>
          {t('common.dismiss')}
        </Button>
      }
    >
      <ol className="divided" onClickCapture={() => chooseGuide('shown')}>
        {STEPS.map((step, index) => (
          <StepItem
            key={step}
            step={step}
            number={index + 1}
            isDone={done[step]}
            isOpen={step === open}
            onToggle={() => setOpen(step === open ? undefined : step)}
          />
        ))}
      </ol>
    </Card>
  );
};

/** A dismissed guide is not rendered, so that it reads nothing. */
const Steps = ({ className }: { className: string | undefined }) => {
  const done = useSteps();
  const choice = useAtom(guideChoice);
  if (!done) return null;
  const isNew = !done.hello || !done.model || !done.agent;
  return isNew || choice === 'shown' ? <Guide done={done} className={className} /> : null;
};

/**
 * The first steps with a new service: shown until a run, a model of a provider and an agent exist, and afterwards to a
 * user who began the guide, until that user dismisses it.
 */
export const GettingStarted = ({ className }: { className?: string | undefined }) =>
  useAtom(guideChoice) === 'dismissed' ? null : <Steps className={className} />;
