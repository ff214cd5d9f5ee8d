/* SPDX-License-Identifier: MIT */
/* fls.c - FLS and the last error, for the calling fiber or plain thread */
#include <fiber/win32.h>

#include "locals.h"
#include "thread.h"

DWORD WINAPI FlsAlloc(PFLS_CALLBACK_FUNCTION lpCallback)
{
	const uint32_t index = fib_win32_index_alloc(lpCallback);

	if (lpCallback)
		fib_win32_thread_follow_exit();
	if (index)
		return index;
	fib_win32_fail(ERROR_NOT_ENOUGH_MEMORY);
	return FLS_OUT_OF_INDEXES;
}

BOOL WINAPI FlsFree(DWORD dwFlsIndex)
{
	if (fib_win32_index_free(dwFlsIndex))
		return TRUE;
	fib_win32_fail(ERROR_INVALID_PARAMETER);
	return FALSE;
}

PVOID WINAPI FlsGetValue(DWORD dwFlsIndex)
{
	struct fib_win32_thread *thread = fib_win32_thread();
	struct fib_win32_locals *locals = thread ? *fib_win32_thread_locals(thread) : NULL;

	if (!locals || !fib_win32_index_valid(dwFlsIndex))
		return fib_win32_fail(ERROR_INVALID_PARAMETER);
	thread->error = ERROR_SUCCESS;
	return fib_win32_locals_get(locals, dwFlsIndex);
}

BOOL WINAPI FlsSetValue(DWORD dwFlsIndex, PVOID lpFlsData)
{
	struct fib_win32_thread *thread = fib_win32_thread();

	if (!fib_win32_index_valid(dwFlsIndex)) {
		fib_win32_fail(ERROR_INVALID_PARAMETER);
		return FALSE;
	}
	if (!thread ||
	    fib_win32_locals_set(fib_win32_thread_locals(thread), dwFlsIndex, lpFlsData) < 0) {
		fib_win32_fail(ERROR_NOT_ENOUGH_MEMORY);
		return FALSE;
	}
	return TRUE;
}

DWORD WINAPI GetLastError(void)
{
	struct fib_win32_thread *thread = fib_win32_thread();

	/* Without memory for the thread's data, that is what its last call failed for. */
	return thread ? thread->error : ERROR_NOT_ENOUGH_MEMORY;
}

VOID WINAPI SetLastError(DWORD dwErrCode)
{
	fib_win32_fail(dwErrCode);
}
