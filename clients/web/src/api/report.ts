/* The whole report of a job, page by page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { joinReports } from '../model/report';
import { getJson } from './client';
import type { Report } from './types';

const PAGE = 200;
const MOST_PAGES = 25;

async function readReport(path: string): Promise<Report | null> {
  const pages: Report[] = [];
  let after: string | null = null;
  do {
    const more: string = after ? `&after=${encodeURIComponent(after)}` : '';
    const page: Report = await getJson<Report>(
      `${path}/findings?safe=1&witness=0&limit=${PAGE}${more}`,
    );
    pages.push(page);
    after = page.next;
  } while (after && pages.length < MOST_PAGES);
  return joinReports(pages);
}

const REPORT_MS = 1500;

interface ReportState {
  path: string;
  report: Report | null;
  problem: string | null;
}

/** The whole report, read again for each revision of the job, at most every REPORT_MS. */
export function useReport(path: string, revision: number | null): ReportState {
  const empty = { path, report: null, problem: null };
  const [state, setState] = useState<ReportState>(empty);
  const [round, setRound] = useState(0);
  const reading = useRef({ path: '', revision: -1, busy: false, at: 0 });
  useEffect(() => {
    const now = reading.current;
    if (revision === null || (now.path === path && (now.busy || now.revision === revision))) return;
    reading.current = { path, revision, busy: true, at: Date.now() };
    const mine = reading.current;
    readReport(path)
      .then((report) => ({ path, report, problem: null }))
      .catch((error: unknown) => ({
        path,
        report: null,
        problem: String((error as Error).message),
      }))
      .then((next) => {
        if (reading.current !== mine) return;
        setState((old) =>
          next.report || old.path !== path ? next : { ...old, ...next, report: old.report },
        );
        setTimeout(
          () => {
            mine.busy = false;
            setRound((n) => n + 1);
          },
          Math.max(0, mine.at + REPORT_MS - Date.now()),
        );
      });
  }, [path, revision, round]);
  return state.path === path ? state : empty;
}
