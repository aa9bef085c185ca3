import { useId, useMemo, useState } from 'react';
import { anyObject, isObject, withDefault } from '../../../data/guard.ts';
import { redactText } from '../../../data/redact-text.ts';
import { redact } from '../../../data/redaction.ts';
import { send } from '../../../data/request.ts';
import { Button } from '../../../design/Button.tsx';
import { CopyButton } from '../../../design/Copy.tsx';
import { Card } from '../../../design/Layout.tsx';
import { useTexts } from '../../../i18n/locale.ts';
import { toast } from '../../../shell/toasts.ts';
import { discoveredAt, isLocal, withFields } from '../draft.ts';
import { isPatched, overridePatch, validateRequest } from '../editing.ts';
import type { Draft } from '../panel.ts';
import css from './Advanced.module.css';
import type { AdvancedProps } from './props.ts';
import { lockedFields, rawText, readRaw } from './raw-json.ts';
import { texts } from './texts.ts';

/** The whole draft as JSON. What is typed becomes the draft only when it is one, and the service would take it. */

/** Top-level fields that the service says agents have. */
const fieldsIn = (namespaces: AdvancedProps['capabilities']['namespaces']): string[] | undefined => {
  const agents = namespaces.find(({ namespace }) => namespace === 'agents');
  const { schema } = withDefault(anyObject, {})(agents, '');
  const properties = isObject(schema) ? schema.properties : undefined;
  return isObject(properties) ? Object.keys(properties) : undefined;
};

const useApply = (props: AdvancedProps, text: string, onApplied: () => void) => {
  const t = useTexts(texts);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { draft, editing, localKind, capabilities, onReplace } = props;
  const check = async (next: Draft): Promise<void> => {
    setBusy(true);
    try {
      const { isNew } = editing;
      // A new one may still lack what a stored one must have.
      const whole = !isNew || (next.id !== '' && next.model_id !== '');
      if (whole) await send(validateRequest({ ...editing, draft: next }, localKind), anyObject);
      onReplace(next);
      onApplied();
      setProblem(undefined);
      toast('success', t('raw.applied'));
    } catch (error) {
      setProblem(t('raw.refused', { what: redactText(error instanceof Error ? error.message : '') }));
    } finally {
      setBusy(false);
    }
  };
  const apply = (): void => {
    const isWritten = !isLocal(draft, localKind) && discoveredAt(draft) === undefined;
    const locked = lockedFields(editing.isNew, isWritten);
    const reading = readRaw(text, draft, { locked, allowed: fieldsIn(capabilities.namespaces) });
    if ('problem' in reading) setProblem(t(reading.problem, { what: reading.what }));
    else void check(withFields(reading.draft, {}, localKind));
  };
  return { problem, busy, apply, forget: () => setProblem(undefined) };
};

export const RawJson = (props: AdvancedProps) => {
  const t = useTexts(texts);
  const { draft, editing, localKind } = props;
  const id = useId();
  const shown = useMemo(() => rawText(draft), [draft]);
  // Undefined: nothing was typed, and the draft is shown as it is.
  const [typed, type] = useState<string>();
  const { problem, busy, apply, forget } = useApply(props, typed ?? shown, () => type(undefined));
  const patch = useMemo(
    () =>
      isPatched(editing) ? JSON.stringify(redact(overridePatch(editing, localKind)), null, 2) : undefined,
    [editing, localKind],
  );
  const reset = (): void => {
    type(undefined);
    forget();
  };
  return (
    <Card title={t('raw')} actions={<CopyButton text={shown} />}>
      <div className={css.form}>
        <textarea
          className={css.raw}
          aria-label={t('raw.label')}
          aria-invalid={problem !== undefined}
          aria-describedby={problem === undefined ? undefined : id}
          spellCheck={false}
          value={typed ?? shown}
          onChange={(event) => {
            type(event.target.value);
            forget();
          }}
        />
        {problem !== undefined && (
          <p className={css.wrong} id={id} role="alert">
            {problem}
          </p>
        )}
        <div className={css.actions}>
          <Button disabled={typed === undefined} onClick={reset}>
            {t('raw.reset')}
          </Button>
          <Button tone="primary" disabled={typed === undefined || busy} onClick={apply}>
            {t('raw.apply')}
          </Button>
        </div>
        {patch !== undefined && (
          <>
            <h3 className={css.sub}>{t('raw.patch')}</h3>
            <pre className={css.patch}>{patch}</pre>
          </>
        )}
      </div>
    </Card>
  );
};
