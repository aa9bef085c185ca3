import { useRef, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { redactText } from '../../data/redact-text.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import css from './Models.module.css';
import type { Model } from './model.ts';
import { type Answer, askModels, failureOf, type Question } from './model-test.ts';
import { texts } from './texts.ts';

const USUAL: Omit<Question, 'models'> = { prompt: '', seconds: 30, tokens: 2000 };

/** The service takes no more in one request. */
const MOST = { seconds: 600, tokens: 200_000 };

const within = (typed: string, most: number): number =>
  Math.min(most, Math.max(1, Math.trunc(Number(typed)) || 1));

const Limit = (props: { label: string; value: number; most: number; onChange: (value: number) => void }) => (
  <Field label={props.label}>
    {(control) => (
      <input
        {...control}
        type="number"
        min={1}
        max={props.most}
        value={props.value}
        onChange={({ target }) => props.onChange(within(target.value, props.most))}
      />
    )}
  </Field>
);

const AnswerCard = ({ answer, model }: { answer: Answer; model: Model | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { report } = answer;
  const failure = failureOf(answer);
  const id = answer.cell?.model_id ?? model?.id ?? '';
  return (
    <section className={css.answer} aria-label={id}>
      <h3 className={css.mono}>{id}</h3>
      {failure === undefined ? (
        <p className={css.said} data-testid="model-test-response">
          {redactText(report.final_text) || t('test.noText')}
        </p>
      ) : (
        <p className={css.failed} data-testid="model-test-error">
          {redactText(failure)}
        </p>
      )}
      <p className={css.facts}>
        {report.session_duration_ms !== undefined && (
          <span>{format.duration(report.session_duration_ms)}</span>
        )}
        <span>
          {t('test.tokensUsed', {
            input: format.number(report.total_input_tokens ?? 0),
            output: format.number(report.total_output_tokens ?? 0),
          })}
        </span>
        {report.cost_usd !== undefined && <span>{format.usd(report.cost_usd)}</span>}
      </p>
    </section>
  );
};

type Outcome =
  | { name: 'none' }
  | { name: 'busy' }
  | { name: 'answered'; answers: readonly Answer[] }
  | { name: 'failed'; error: unknown };

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

export const ModelTest = (props: { first: string; models: readonly Model[]; onClose: () => void }) => {
  const t = useTexts(texts);
  const { models, first } = props;
  const [asked, setAsked] = useState<Question>({ ...USUAL, models: [first] });
  const [outcome, setOutcome] = useState<Outcome>({ name: 'none' });
  const running = useRef<AbortController>(undefined);
  const change = (fields: Partial<Question>): void => setAsked({ ...asked, ...fields });
  const ask = async (): Promise<void> => {
    const attempt = new AbortController();
    running.current = attempt;
    setOutcome({ name: 'busy' });
    try {
      const prompt = asked.prompt.trim() || t('test.placeholder');
      setOutcome({ name: 'answered', answers: await askModels({ ...asked, prompt }, attempt.signal) });
    } catch (error) {
      if (!attempt.signal.aborted) setOutcome({ name: 'failed', error });
    }
  };
  const close = (): void => {
    running.current?.abort();
    props.onClose();
  };
  const toggle = (id: string, isWanted: boolean): void =>
    change({ models: isWanted ? [...asked.models, id] : asked.models.filter((other) => other !== id) });
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
            onChange={({ target }) => change({ prompt: target.value })}
          />
        )}
      </Field>
      <fieldset className={css.kinds}>
        <legend>{t('test.models')}</legend>
        {models.map(({ id }) => (
          <CheckField
            key={id}
            label={id}
            checked={asked.models.includes(id)}
            onChange={(isWanted) => toggle(id, isWanted)}
          />
        ))}
      </fieldset>
      <div className={css.two}>
        <Limit
          label={t('test.walltime')}
          value={asked.seconds}
          most={MOST.seconds}
          onChange={(seconds) => change({ seconds })}
        />
        <Limit
          label={t('test.tokens')}
          value={asked.tokens}
          most={MOST.tokens}
          onChange={(tokens) => change({ tokens })}
        />
      </div>
      <div className={css.answers} role="status">
        {outcome.name === 'failed' && <Failed error={outcome.error} />}
        {outcome.name === 'answered' &&
          outcome.answers.map((answer, index) => (
            <AnswerCard
              key={answer.cell?.model_id ?? index}
              answer={answer}
              model={models.find(({ id }) => id === asked.models[index])}
            />
          ))}
      </div>
      <DialogActions>
        <Button onClick={close}>{t('test.close')}</Button>
        <Button
          tone="primary"
          data-testid="model-test-send"
          disabled={outcome.name === 'busy' || asked.models.length === 0}
          onClick={() => void ask()}
        >
          {t(outcome.name === 'busy' ? 'test.busy' : 'test.send')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
