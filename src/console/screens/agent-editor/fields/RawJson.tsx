import { useId, useMemo, useState } from 'react';
import { anyObject, isObject } from '../../../data/guard.ts';
import { reasonOf } from '../../../data/redact-text.ts';
import { send } from '../../../data/request.ts';
import type { Draft } from '../../../data/spec.ts';
import { Button } from '../../../design/Button.tsx';
import { CopyButton } from '../../../design/Copy.tsx';
import { controlLook } from '../../../design/Field.tsx';
import { Json } from '../../../design/Json.tsx';
import { Card } from '../../../design/Layout.tsx';
import { toast } from '../../../feedback/toasts.ts';
import { useTexts } from '../../../i18n/locale.ts';
import css from '../AgentEditor.module.css';
import { useAgent } from '../agent-form.ts';
import { discoveredAt, isLocal, withFields } from '../draft.ts';
import { isPatched, overridePatch, validateRequest } from '../editing.ts';
import texts from '../texts.json' with { type: 'json' };
import { lockedFields, rawText, readRaw } from './raw-json.ts';

/** The whole draft as JSON. The text replaces the draft only if it is valid and the service accepts it. */

const useApply = (onApplied: () => void) => {
  const t = useTexts(texts);
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { form, schema, localKind } = useAgent();
  const { opened, draft, reset } = form;
  const { isNew } = opened;
  const check = async (next: Draft): Promise<void> => {
    setBusy(true);
    try {
      // A new agent may still be incomplete.
      const isWhole = !isNew || (next.id !== '' && next.model_id !== '');
      if (isWhole) await send(validateRequest(opened, next, localKind), anyObject);
      reset(next);
      onApplied();
      setProblem(undefined);
      toast('success', t('raw.applied'));
    } catch (error) {
      setProblem(t('raw.refused', { what: reasonOf(error) }));
    } finally {
      setBusy(false);
    }
  };
  const apply = (text: string): void => {
    const isEntered = !isLocal(draft, localKind) && discoveredAt(draft) === undefined;
    const { properties } = schema;
    const reading = readRaw(text, draft, {
      locked: lockedFields(isNew, isEntered),
      allowed: isObject(properties) ? Object.keys(properties) : [],
    });
    if ('problem' in reading) setProblem(t(reading.problem, { what: reading.what }));
    else void check(withFields(reading.draft, {}, localKind));
  };
  return { problem, busy, apply, forget: () => setProblem(undefined) };
};

export const RawJson = () => {
  const t = useTexts(texts);
  const { form, localKind } = useAgent();
  const { opened, draft } = form;
  const id = useId();
  const shown = useMemo(() => rawText(draft), [draft]);
  // Undefined while the text is unchanged.
  const [typed, type] = useState<string>();
  const { problem, busy, apply, forget } = useApply(() => type(undefined));
  const change = (text: string | undefined): void => {
    type(text);
    forget();
  };
  return (
    <Card title={t('raw')} actions={<CopyButton text={shown} />}>
      <textarea
        className={`${controlLook} ${css.raw}`}
        aria-label={t('raw.label')}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        spellCheck={false}
        value={typed ?? shown}
        onChange={({ target }) => change(target.value)}
      />
      {problem !== undefined && (
        <p className="quiet bad" id={id} role="alert">
          {problem}
        </p>
      )}
      <div className="row">
        <Button disabled={typed === undefined} onClick={() => change(undefined)}>
          {t('raw.reset')}
        </Button>
        <Button tone="primary" disabled={typed === undefined || busy} onClick={() => apply(typed ?? shown)}>
          {t('raw.apply')}
        </Button>
      </div>
      {isPatched(opened) && (
        <>
          <h3 className="quiet">{t('raw.patch')}</h3>
          <Json value={overridePatch(opened, draft, localKind)} label={t('raw.patch')} />
        </>
      )}
    </Card>
  );
};
