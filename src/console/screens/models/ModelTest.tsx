import { useMemo, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import type { JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { reasonOf, redactText } from '../../data/redact-text.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { Notice } from '../../design/Notice.tsx';
import css from '../../entry/Entry.module.css';
import type { EntryDialog } from '../../entry/EntryScreen.tsx';
import type { Item } from '../../eval-results/report.ts';
import { useAttempt } from '../../feedback/use-attempt.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { problemsIn } from '../../schema-form/check.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { SchemaForm } from '../../schema-form/SchemaForm.tsx';
import { askModels, failureOf, MODELS, type Model, Question } from './model.ts';
import texts from './texts.json' with { type: 'json' };

/** The question, whose limits have the maxima that the service accepts. */
const schemaFor = (models: readonly Model[]) => ({
  type: 'object',
  required: ['models', 'seconds', 'tokens'],
  properties: {
    prompt: { type: 'string' },
    models: { type: 'array', items: { enum: models.map(({ id }) => id) }, minItems: 1 },
    seconds: { type: 'integer', minimum: 1, maximum: 600 },
    tokens: { type: 'integer', minimum: 1, maximum: 200_000 },
  },
});

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
      <h3 className="mono">{id}</h3>
      <p
        className={`${css.said} ${failure === undefined ? '' : 'bad'}`}
        data-testid={failure === undefined ? 'model-test-response' : 'model-test-error'}
      >
        {redactText(failure ?? report.final_text) || t('test.noText')}
      </p>
      <p className="quiet">{facts.filter(Boolean).join(' · ')}</p>
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
      <span data-testid="model-test-error">{reasonOf(error)}</span>
    </Notice>
  );
};

type Asked = { models: readonly string[]; answers: readonly Item[] };

/** Sends one prompt to one or several models. Closing the dialog cancels the test. */
export const ModelTest: EntryDialog = ({ id, onClose }) => {
  const t = useTexts(texts);
  const [asked, setAsked] = useState<JsonObject>({ models: [id], seconds: 30, tokens: 2000 });
  const { isBusy, result, error, run, stop } = useAttempt<Asked>();
  const models = useResource(MODELS).data;
  const schema = useMemo(() => schemaFor(models ?? []), [models]);
  const close = (): void => {
    stop();
    onClose();
  };
  const start = (): void => {
    const { prompt, ...rest } = Question(asked, '');
    const question = { ...rest, prompt: prompt.trim() || t('test.placeholder') };
    void run(async (signal) => ({ models: rest.models, answers: await askModels(question, signal) }));
  };
  return (
    <Dialog title={t('test.title')} size={720} onClose={close}>
      <Notice title={t('test.billed')} />
      <SchemaForm
        label={t('test.title')}
        schema={schema}
        ui={{
          prompt: {
            'ui:widget': 'textarea',
            'ui:options': { rows: 2 },
            'ui:placeholder': t('test.placeholder'),
          },
          models: { 'ui:widget': 'checkboxes' },
        }}
        words={wordsFrom(t, texts, (place) => `test.${place}`)}
        value={asked}
        onChange={setAsked}
      />
      <div className="stack" role="status">
        {error !== undefined && <Failed error={error} />}
        {result?.answers.map(({ cell, report }, index) => {
          const model = cell?.model_id ?? result.models[index] ?? '';
          return <AnswerCard key={model} report={report} id={model} />;
        })}
      </div>
      <DialogActions>
        <Button onClick={close}>{t('test.close')}</Button>
        <Button
          tone="primary"
          data-testid="model-test-send"
          disabled={isBusy || problemsIn(schema, asked).length > 0}
          onClick={start}
        >
          {t(isBusy ? 'test.busy' : 'test.send')}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
