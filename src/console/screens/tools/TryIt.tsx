import { useRef, useState } from 'react';
import { RequestError } from '../../data/error.ts';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf, send } from '../../data/request.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Json } from '../../design/Json.tsx';
import { Card, Facts } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useAttempt } from '../../feedback/use-attempt.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { isKey } from '../../i18n/texts.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { problemsIn } from '../../schema-form/check.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { SchemaForm, useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import { seen } from '../../schema-form/schema.ts';
import css from './Tools.module.css';
import texts from './texts.json' with { type: 'json' };
import { type Definition, definitionOf, imagesIn, Trial } from './tool.ts';

const STATUS = {
  success: { tone: 'success', icon: 'check', key: 'trial.success' },
  suspended: { tone: 'warn', icon: 'clock', key: 'trial.suspended' },
  error: { tone: 'error', icon: 'error', key: 'trial.error' },
} as const;

const isIn = <K extends string>(known: Record<K, unknown>, key: string): key is K =>
  Object.hasOwn(known, key);

/** The effect of permission rules on the call in a run. */
const Permission = ({ permission }: { permission: NonNullable<Trial['permission']> }) => {
  const t = useTexts(texts);
  const { behavior, rule, decided_by } = permission;
  const key = `permission.${behavior}`;
  if (!isKey(texts, key)) return null;
  const by = decided_by === 'tool' ? t('permission.byTool') : t('permission.byDefault');
  return (
    <>
      {t(key)} <span className="quiet">{rule ? <code>{rule}</code> : by}</span>
    </>
  );
};

const Result = ({ trial }: { trial: Trial }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { status, data, message, output, state, permission, content, parts } = trial;
  const { tone, icon, key } = STATUS[isIn(STATUS, status) ? status : 'error'];
  const images = imagesIn(trial);
  const files = [...(content ?? []), ...(parts ?? [])].filter(({ type }) => type !== 'image');
  return (
    <section className={`stack ${css.result}`} aria-label={t('trial.result')}>
      <header className="row">
        <Chip tone={tone} icon={icon}>
          {t(key)}
        </Chip>
        <span className="quiet">{format.duration(trial.duration_ms)}</span>
      </header>
      {message && <p className={status === 'error' ? 'bad' : css.text}>{redactText(message)}</p>}
      {data !== null && data !== undefined && <Json value={data} label={t('trial.data')} />}
      {images.map((url) => (
        <img key={url} src={url} alt={t('trial.image')} className="media" />
      ))}
      {files.length > 0 && <Json value={files} label={t('trial.files')} />}
      <Facts
        rows={[
          permission !== undefined && [
            t('trial.permission'),
            <Permission key="permission" permission={permission} />,
          ],
          Boolean(output) && [t('trial.output'), redactText(output ?? '')],
          [t('trial.state'), state.length === 0 ? t('trial.noState') : ''],
        ]}
      />
      {state.map(({ key: name, scope, value }) => (
        <details key={name} open>
          <summary>
            <code>{name}</code> <span className="quiet">{scope}</span>
          </summary>
          <Json value={value} label={name} />
        </details>
      ))}
    </section>
  );
};

const Failed = ({ error, onRetry }: { error: unknown; onRetry: () => void }) => {
  const t = useTexts(texts);
  const { failure } = error instanceof RequestError ? error : { failure: undefined };
  if (failure?.kind !== 'http' || failure.status === 401) return <ErrorBox error={error} onRetry={onRetry} />;
  return (
    <Notice tone="error" title={t('trial.refused')}>
      {error instanceof Error && error.message}
    </Notice>
  );
};

/** Defaults and constants; all other arguments are left to the user. */
const startOfArguments = (schema: JsonObject): JsonObject => {
  const { view } = seen(schema, schema);
  const properties = view.kind === 'object' ? view.properties : [];
  return Object.fromEntries(
    properties.flatMap(({ name, schema: property }) => {
      const { default: usual, const: only = usual } = seen(property, schema).schema;
      return only === undefined || only === null ? [] : [[name, only]];
    }),
  );
};

const Form = ({ tool, agent }: { tool: Definition; agent: string }) => {
  const t = useTexts(texts);
  const textOf = useProblemTexts();
  const { id, parameters_schema: schema } = tool;
  const [args, setArgs] = useState(() => startOfArguments(schema));
  const [unread, setUnread] = useState<Unread>({});
  const [isChecked, check] = useState(false);
  const [isJson, showJson] = useState(false);
  const { isBusy: isRunning, result: trial, error, run, stop } = useAttempt<Trial>();
  const form = useRef<HTMLFormElement>(null);
  const { view: own } = seen(schema, schema);
  const takesNone = own.kind !== 'object' && !isObject(schema.additionalProperties) && !schema.$ref;
  const problems = problemsIn(schema, args).map((problem) => [problem.path, textOf(problem)] as const);
  const submit = (): void => {
    check(true);
    if (problems.length > 0 || Object.keys(unread).length > 0) {
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus());
      return;
    }
    const body = { arguments: args, ...(agent !== '' && { agent_id: agent }) };
    void run((signal) => send({ method: 'POST', path: pathOf`/v1/tools/${id}/try`, body, signal }, Trial));
  };
  return (
    <form
      ref={form}
      className="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isRunning) submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || isRunning) return;
        event.preventDefault();
        submit();
      }}
    >
      {takesNone && !isJson ? (
        <p className="quiet">{t('parameters.none')}</p>
      ) : (
        <SchemaForm
          label={t('argumentsOf')}
          schema={schema}
          value={args}
          errors={new Map(isChecked ? problems : [])}
          unread={unread}
          onUnread={(path, typed) => setUnread((before) => withUnread(before, path, typed))}
          onChange={setArgs}
          asJson={isJson}
        />
      )}
      <div className="row spread">
        <Segmented
          label={t('argumentsOf')}
          value={isJson ? 'json' : 'form'}
          options={[
            ['form', t('asForm')],
            ['json', t('asJson')],
          ]}
          onChange={(view) => showJson(view === 'json')}
        />
        {isRunning ? (
          // With a key, this button does not become the other one during its click, which would submit the form.
          <Button key="cancel" icon="stop" onClick={stop}>
            {t('cancel')}
          </Button>
        ) : (
          <Button key="run" type="submit" tone="primary" icon="runs">
            {t('run')}
          </Button>
        )}
      </div>
      {error !== undefined && <Failed error={error} onRetry={submit} />}
      {trial && <Result trial={trial} />}
    </form>
  );
};

/** Calls the tool alone, with arguments from a form of its schema. */
export const TryIt = ({ tool, agents }: { tool: Definition; agents: readonly string[] }) => {
  const t = useTexts(texts);
  const [{ agent = '' }, setQuery] = useQueryState();
  const query = useResource(definitionOf(tool.id, agent || undefined));
  const options = [...new Set(['', ...agents, agent])].map((id) => [id, id || t('agent.none')] as const);
  return (
    <Card
      title={t('try')}
      note={t('try.note')}
      actions={
        <FilterSelect
          label={t('agent')}
          value={agent}
          options={options}
          onChange={(id) => setQuery({ agent: id || undefined })}
        />
      }
    >
      <Loaded query={query} plain>
        {(definition) =>
          definition.needs_run ? (
            <EmptyState title={t('needsRun')}>{definition.needs_run}</EmptyState>
          ) : (
            <Form tool={definition} agent={agent} />
          )
        }
      </Loaded>
    </Card>
  );
};
