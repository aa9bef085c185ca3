import { useRef, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { redactText } from '../../data/redact-text.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { Notice } from '../../design/Notice.tsx';
import css from '../../entry/Entry.module.css';
import type { Item } from '../../eval-results/report.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { Model } from './model.ts';
import { askModels, failureOf, type Question } from './model-test.ts';
import { texts } from './texts.ts';

/** Limits of one request, each with the maximum that the service accepts. */
const LIMITS = [
  ['seconds', 600],
  ['tokens', 200_000],
] as const;

const within = (typed: string, most: number): number =>
  Math.min(most, Math.max(1, Math.trunc(Number(typed)) || 1));

const AnswerCard = ({ report, id }: { report: Item['report']; id: string }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const failure = failureOf(report);
  const facts = [
    format.duration(report.session_duration_ms),
    t('test.tokensUsed', {
      input: format.number(report.total_input_tokens),
      output: format.number(report.total_output_tokens),
    }),
    report.cost_usd !== undefined && format.usd(report.cost_usd),
  ];
  return (
    <section className={css.box} aria-label={id}>
      <h3 className={css.mono}>{id}</h3>
      <p
        className={`${css.said} ${failure === undefined ? '' : css.bad}`}
        data-testid={failure === undefined ? 'model-test-response' : 'model-test-error'}
      >
        {redactText(failure ?? report.final_text) || t('test.noText')}
      </p>
      <p className={css.quiet}>{facts.filter(Boolean).join(' · ')}</p>
    </section>
  );
};

const Failed = ({ error }: { error: unknown }) => {
  const t = useTexts(texts);
  if (statusOf(error) === 404) {
    return (
      <Notice
        title={t('test.off')}
        actions={
          <ScreenLink to="/providers" className={buttonLook}>
            {t('test.toProviders')}
          </ScreenLink>
        }
      />
    );
  }
  return (
    <Notice tone="error" title={t('test.failed')}>
      <span data-testid="model-test-error">
        {redactText(error instanceof Error ? error.message : String(error))}
      </span>
    </Notice>
  );
};

type Outcome =
  | { name: 'none' }
  | { name: 'busy' }
  | { name: 'answered'; answers: readonly Item[] }
  | { name: 'failed'; error: unknown };

/** The test of a prompt; closing the dialog cancels it. */
const useAsking = () => {
  const [outcome, setOutcome] = useState<Outcome>({ name: 'none' });
  const running = useRef<AbortController>(undefined);
  const ask = async (question: Question): Promise<void> => {
    const attempt = new AbortController();
    running.current = attempt;
    setOutcome({ name: 'busy' });
    try {
      setOutcome({ name: 'answered', answers: await askModels(question, attempt.signal) });
    } catch (error) {
      if (!attempt.signal.aborted) setOutcome({ name: 'failed', error });
    }
  };
  return { outcome, ask, stop: () => running.current?.abort() };
};

/** Sends one prompt to one or several models. */
export const ModelTest = (props: { first: string; models: readonly Model[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const [asked, setAsked] = useState({ prompt: '', seconds: 30, tokens: 2000, models: [props.first] });
  const { outcome, ask, stop } = useAsking();
  const close = (): void => {
    stop();
    props.onClose();
  };
  const toggle = (id: string, isWanted: boolean): void => {
    const others = asked.models.filter((other) => other !== id);
    setAsked({ ...asked, models: isWanted ? [...others, id] : others });
  };
  const number = ([limit, most]: (typeof LIMITS)[number]) => (
    <Field key={limit} label={t(`test.${limit}`)}>
      {(control) => (
        <input
          {...control}
          type="number"
          min={1}
          max={most}
          value={asked[limit]}
          onChange={({ target }) => setAsked({ ...asked, [limit]: within(target.value, most) })}
        />
      )}
    </Field>
  );
  const start = (): void => void ask({ ...asked, prompt: asked.prompt.trim() || t('test.placeholder') });
  return (
    <Dialog title={t('test.title')} size={720} onClose={close}>
      <Notice title={t('test.billed')} />
      <Field label={t('test.prompt')}>
        {(control) => (
          <textarea
            {...control}
            data-autofocus
            rows={2}
            placeholder={t('test.placeholder')}
            value={asked.prompt}
            onChange={({ target }) => setAsked({ ...asked, prompt: target.value })}
          />
        )}
      </Field>
      <fieldset className={css.box}>
        <legend>{t('test.models')}</legend>
        <span className={css.row}>
          {props.models.map(({ id }) => (
            <CheckField
              key={id}
              label={id}
              checked={asked.models.includes(id)}
              onChange={(isWanted) => toggle(id, isWanted)}
            />
          ))}
        </span>
      </fieldset>
      <div className={css.row}>{LIMITS.map(number)}</div>
      <div className={css.list} role="status">
        {outcome.name === 'failed' && <Failed error={outcome.error} />}
        {outcome.name === 'answered' &&
          outcome.answers.map(({ cell, report }, index) => {
            const id = cell?.model_id ?? asked.models[index] ?? '';
            return <AnswerCard key={id} report={report} id={id} />;
          })}
      </div>
      <DialogActions>
        <Button onClick={close}>{t('test.close')}</Button>
        <Button
          tone="primary"
          data-testid="model-test-send"
          disabled={outcome.name === 'busy' || asked.models.length === 0}
          onClick={start}
        >
          {t(outcome.name === 'busy' ? 'test.busy' : 'test.send')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
