/* SPDX-License-Identifier: MIT */
/*
 * win32.h - library libfiber-win32: the fibers and the fiber-local storage of Windows
 *
 * Source that was written for Windows and uses no more than fibers compiles with this header in place
 * of <windows.h>. Link with `pkg-config --libs libfiber-win32 libfiber`. <fiber.h> does not include
 * this header. libfiber-win32(7) lists what differs from Windows.
 *
 * These fibers are scheduled by the program: SwitchToFiber() says which one runs next. They are
 * contexts (<fiber/context.h>), need no runtime, and no call waits. fibertrace lists them beside the
 * thread that runs them; they are not fibers of libfiber.
 *
 * A thread becomes a fiber with ConvertThreadToFiber() and may switch to other fibers then. A fiber
 * that was created may run on any thread, one at a time. The fiber of a converted thread runs on that
 * thread only, because its stack is the thread's.
 *
 * A call that fails stores a number, which GetLastError() returns. The number belongs to the thread,
 * as on Windows. A call that succeeds leaves it as it is, except FlsGetValue().
 *
 * FIBER_WIN32_OWN_TYPES: define it if the program already has the types and macros of the first part
 * below. They must have the same sizes as here.
 *
 * The calls are for threads. In a fiber of libfiber the conversion fails with ERROR_NOT_SUPPORTED. No
 * call is async-signal-safe.
 */
#ifndef FIBER_WIN32_H
#define FIBER_WIN32_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/api.h>

FIBER_BEGIN_DECLS

#ifndef FIBER_WIN32_OWN_TYPES
typedef int BOOL;
typedef unsigned char BYTE;
typedef uint32_t DWORD; /* 32 bits, as on Windows: not unsigned long */
typedef size_t SIZE_T;
typedef uintptr_t ULONG_PTR;
typedef uintptr_t DWORD_PTR;
typedef void *PVOID;
typedef void *LPVOID;
#define VOID  void
#define TRUE  1
#define FALSE 0
#define WINAPI
#define CALLBACK
#endif

typedef VOID(WINAPI *PFIBER_START_ROUTINE)(LPVOID lpFiberParameter);
typedef PFIBER_START_ROUTINE LPFIBER_START_ROUTINE;
typedef VOID(WINAPI *PFLS_CALLBACK_FUNCTION)(PVOID lpFlsData);

#define FIBER_FLAG_FLOAT_SWITCH 0x1

#define FLS_OUT_OF_INDEXES    ((DWORD)0xffffffff)
#define FLS_MAXIMUM_AVAILABLE 4080 /* index 0 is never allocated: 4079 at a time */

/* Their numbers on Windows. */
#define ERROR_SUCCESS		0
#define NO_ERROR		0
#define ERROR_NOT_ENOUGH_MEMORY 8
#define ERROR_NOT_SUPPORTED	50
#define ERROR_INVALID_PARAMETER 87
#define ERROR_ALREADY_FIBER	1280
#define ERROR_ALREADY_THREAD	1281

/* -- threads as fibers -- */

/*
 * Make the calling thread a fiber, with lpParameter as its data and the thread's FLS values. The
 * second form: dwFlags is 0 or FIBER_FLAG_FLOAT_SWITCH, as for CreateFiberEx(). Returns the fiber, or
 * NULL: ERROR_ALREADY_FIBER, ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SUPPORTED.
 */
FIBER_API LPVOID WINAPI ConvertThreadToFiber(LPVOID lpParameter);
FIBER_API LPVOID WINAPI ConvertThreadToFiberEx(LPVOID lpParameter, DWORD dwFlags);

/*
 * Make the calling fiber a plain thread, on the stack that it is on. The fiber is released, its FLS
 * values stay the thread's. Returns FALSE in a plain thread: ERROR_ALREADY_THREAD.
 */
FIBER_API BOOL WINAPI ConvertFiberToThread(void);

/* TRUE in a thread that is a fiber now. */
FIBER_API BOOL WINAPI IsThreadAFiber(void);

/* The running fiber, and its data. NULL in a plain thread, where Windows has an undefined value. */
FIBER_API LPVOID WINAPI GetCurrentFiber(void);
FIBER_API LPVOID WINAPI GetFiberData(void);

/* -- fibers -- */

/*
 * Make a fiber that calls lpStartAddress(lpParameter) when it is first switched to. A thread that is
 * no fiber may make one too. The stack has room for the largest of both sizes, and 1 MiB where
 * dwStackReserveSize is 0; memory is committed when it is touched. Without FIBER_FLAG_FLOAT_SWITCH
 * the fiber shares the FPU control words with the others that do, which makes the switch cheaper; with
 * the flag it has control words of its own, those of the caller at first.
 *
 * When the function returns, the thread that runs the fiber exits as by ExitThread(1).
 *
 * Returns the fiber, or NULL: ERROR_INVALID_PARAMETER without a function, with another flag or a stack
 * of 1 GiB or more; ERROR_NOT_ENOUGH_MEMORY.
 */
FIBER_API LPVOID WINAPI CreateFiber(SIZE_T dwStackSize, LPFIBER_START_ROUTINE lpStartAddress,
				    LPVOID lpParameter);
FIBER_API LPVOID WINAPI CreateFiberEx(SIZE_T dwStackCommitSize, SIZE_T dwStackReserveSize,
				      DWORD dwFlags, LPFIBER_START_ROUTINE lpStartAddress,
				      LPVOID lpParameter);

/*
 * Leave the calling fiber and continue lpFiber. Returns when a fiber switches back, perhaps on another
 * thread: keep nothing thread-local across the call. To switch to the running fiber does nothing.
 *
 * Where Windows does not define what happens, a line is printed and the program aborts: in a plain
 * thread, to NULL, to a fiber that another thread runs, to the fiber of a thread that has exited; and
 * to the fiber of another converted thread, which Windows would run.
 */
FIBER_API VOID WINAPI SwitchToFiber(LPVOID lpFiber);

/*
 * Call the FLS callbacks for the fiber's values, in the caller, and release the fiber. Its stack is
 * dropped without unwinding. Deleting the running fiber ends the thread as by ExitThread(1). A fiber
 * that another thread runs must not be deleted: a line is printed and the program aborts.
 */
FIBER_API VOID WINAPI DeleteFiber(LPVOID lpFiber);

/*
 * End the calling thread from whatever fiber it runs. The running fiber ends with it: its FLS
 * callbacks are called and it is released. dwExitCode is what pthread_join() returns. On the thread's
 * own stack it is pthread_exit(), so cleanup handlers there are called.
 */
FIBER_API FIBER_NORETURN VOID WINAPI ExitThread(DWORD dwExitCode);

/* -- fiber-local storage -- */

/*
 * Allocate an index at which every fiber, and every plain thread, has a value of its own, NULL at
 * first. lpCallback, unless NULL, is called with a value that is not NULL when its fiber is deleted,
 * its thread or the process exits, or the index is freed. Returns the index or FLS_OUT_OF_INDEXES:
 * ERROR_NOT_ENOUGH_MEMORY.
 */
FIBER_API DWORD WINAPI FlsAlloc(PFLS_CALLBACK_FUNCTION lpCallback);

/*
 * Free an index. The callback is called in the caller, for the value of every fiber and plain thread.
 * The call does not wait for a callback that another thread runs already. Returns FALSE for an index
 * that is not allocated: ERROR_INVALID_PARAMETER.
 */
FIBER_API BOOL WINAPI FlsFree(DWORD dwFlsIndex);

/*
 * The running fiber's value at an index. Sets ERROR_SUCCESS, so that a NULL that was stored can be
 * told from a failure, ERROR_INVALID_PARAMETER: an index of 0 or from FLS_MAXIMUM_AVAILABLE on, or a
 * fiber that has stored no value yet at any index. As on Windows an index that is not allocated is no
 * error.
 */
FIBER_API PVOID WINAPI FlsGetValue(DWORD dwFlsIndex);

/* Store a value. Returns FALSE: ERROR_INVALID_PARAMETER, ERROR_NOT_ENOUGH_MEMORY. As on Windows, an
 * index that is not allocated is no error; the value is lost when the index is allocated. */
FIBER_API BOOL WINAPI FlsSetValue(DWORD dwFlsIndex, PVOID lpFlsData);

/* -- the last error -- */

FIBER_API DWORD WINAPI GetLastError(void);
FIBER_API VOID WINAPI SetLastError(DWORD dwErrCode);

FIBER_END_DECLS

#endif
