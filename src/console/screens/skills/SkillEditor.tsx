import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { statusOf } from '../../data/error.ts';
import { sourceState } from '../../data/meta.ts';
import { useResource } from '../../data/queries.ts';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { Card, Page } from '../../design/Layout.tsx';
import { ErrorBox, Loaded } from '../../design/Loaded.tsx';
import { SkeletonRows } from '../../design/Notice.tsx';
import { SourceChip } from '../../design/SourceChip.tsx';
import css from '../../entry/Entry.module.css';
import { EntryGuards, Refused, useFirstError, useOpening } from '../../entry/EntryEditor.tsx';
import { AllEntryFields, EntryFormContext } from '../../entry/EntryFields.tsx';
import { EntryMenu } from '../../entry/EntryMenu.tsx';
import type { Opened } from '../../entry/entry.ts';
import { KeptDraft } from '../../entry/KeptDraft.tsx';
import { type EntryForm, useEntry } from '../../entry/use-entry.ts';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink, useGo } from '../../navigation/links.tsx';
import { NoSuch } from '../../navigation/NoSuch.tsx';
import type { Schema } from '../../schema-form/schema.ts';
import { AGENTS, SKILLS, usersOf } from './skill.ts';
import { SKILL } from './skill-form.tsx';
import texts from './texts.json' with { type: 'json' };

/** The page of one skill: its description, its instructions and its activation. */

const Users = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS);
  return (
    <Card title={t('users')} note={t('users.note')}>
      <Loaded query={agents} plain>
        {(known) => {
          const users = usersOf(known, id);
          if (users.length === 0) return <p className="quiet">{t('agents.none')}</p>;
          return (
            <ul className="row mono">
              {users.map((agent) => (
                <li key={agent}>
                  <ScreenLink to={`/agents/${encodeURIComponent(agent)}`}>{agent}</ScreenLink>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Card>
  );
};

/** Replaces the address once a new skill has been stored. */
const useOwnAddress = ({ opened: { isNew, start } }: EntryForm): void => {
  const navigate = useNavigate();
  useEffect(() => {
    if (isNew || !location.pathname.endsWith('/skills/new')) return;
    void navigate({ to: `/skills/${encodeURIComponent(start.id)}`, replace: true });
  }, [isNew, start.id, navigate]);
};

const Actions = ({ form }: { form: EntryForm }) => {
  const t = useTexts(texts);
  const go = useGo();
  const { isNew, start, meta } = form.opened;
  return (
    <>
      {form.isDirty ? <Chip tone="warn">{t('unsaved')}</Chip> : !isNew && <Chip>{t('clean')}</Chip>}
      {!isNew && <SourceChip state={sourceState(meta)} />}
      {!isNew && <EntryMenu kind={SKILL} id={start.id} onDeleted={() => go('/skills')} />}
    </>
  );
};

const Form = ({ opened, schema }: { opened: Opened; schema: Schema }) => {
  const t = useTexts(texts);
  const form = useEntry(opened, { ...SKILL, schema });
  const element = useFirstError<HTMLDivElement>(form.errors);
  useOwnAddress(form);
  const { isNew, start } = form.opened;
  return (
    <Page title={isNew ? t('new') : start.id} purpose={t('editor.purpose')} actions={<Actions form={form} />}>
      <EntryGuards form={form} />
      <EntryFormContext value={{ form, schema, descriptor: SKILL }}>
        <KeptDraft kind="skill" />
        <Refused errors={form.errors} />
        <div ref={element}>
          <Card title={t('about')}>
            <AllEntryFields descriptor={SKILL} />
          </Card>
        </div>
      </EntryFormContext>
      {!isNew && <Users id={start.id} />}
      <footer className={css.foot}>
        <span className="push" />
        <Button
          tone="primary"
          data-save
          disabled={(!form.isDirty && !isNew) || form.busy}
          onClick={() => void form.save()}
        >
          {t('save')}
        </Button>
      </footer>
    </Page>
  );
};

const Opening = ({ id, isNew }: { id: string | undefined; isNew: boolean }) => {
  const t = useTexts(texts);
  const { opened, schema, query } = useOpening(SKILL, id, isNew ? SKILL.start : undefined);
  if (opened && schema) return <Form opened={opened} schema={schema} />;
  if (id !== undefined && statusOf(query.error) === 404)
    return (
      <NoSuch title={t('missing.title', { id })} to="/skills" all={t('back')}>
        {t('missing.text')}
      </NoSuch>
    );
  return query.error ? (
    <ErrorBox error={query.error} off={SKILLS.off} onRetry={() => void query.refetch()} />
  ) : (
    <SkeletonRows />
  );
};

export default function SkillEditor() {
  // The route `/skills/new` has no id.
  const { id }: { id?: string } = useParams({ strict: false });
  const [{ from }] = useQueryState();
  return <Opening key={id ?? ''} id={id ?? from} isNew={id === undefined} />;
}
